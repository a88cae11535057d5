-- Sets of one or two items that fewer than 5 rows hold: none, if the rows are k^m-anonymous with k = 5 and m = 2.
-- `published` has a line for each item of a row: row_id, item. A row that holds an item twice counts once.
with items as (
    select distinct row_id, item from published
),
singles as (
    select item as first_item, cast(null as varchar) as second_item, count(*) as row_count
    from items
    group by item
),
pairs as (
    select a.item as first_item, b.item as second_item, count(*) as row_count
    from items as a
    inner join items as b on a.row_id = b.row_id and a.item < b.item
    group by a.item, b.item
)
select first_item, second_item, row_count from singles where row_count < 5
union all
select first_item, second_item, row_count from pairs where row_count < 5
