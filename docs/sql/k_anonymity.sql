-- Combinations of columns that fewer than 5 lines share: none, if the lines are k-anonymous with k = 5.
-- `published` has a line for each person. Name here the columns that somebody may know of a person, and group by all
-- of them.
select age, sex, count(*) as line_count
from published
group by age, sex
having count(*) < 5
