"""A made-up grocery sample, for demonstrations and tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError
from setveil.rows.data.transactions import Transactions

_ROOT = "all products"

# Department, group: products, the best-selling first. The shop, its groups and its missions are invented.
_SHOP = {
    "fruit and vegetables": {
        "fresh fruit": "bananas, apples, oranges, strawberries, lemons, dragon fruit",
        "vegetables": "tomatoes, onions, potatoes, carrots, peppers, mushrooms",
        "salads and herbs": "lettuce, cucumber, basil, coriander",
    },
    "dairy and eggs": {
        "milk and cream": "whole milk, skimmed milk, whipping cream, oat drink",
        "cheese": "cheddar, mozzarella, parmesan, feta",
        "yoghurt and puddings": "plain yoghurt, fruit yoghurt, vanilla pudding, rice pudding",
        "butter and eggs": "eggs, butter, margarine, quail eggs",
    },
    "meat and fish": {
        "beef and pork": "minced beef, pork chops, steaks, beef brisket",
        "poultry": "chicken breasts, whole chicken, turkey slices",
        "sausages and cold cuts": "ham, grill sausages, bacon, salami",
        "fish and seafood": "salmon, prawns, cod, oysters",
    },
    "bakery": {
        "bread and rolls": "white bread, wholemeal bread, baguettes, burger buns, gluten-free bread",
        "pastries": "croissants, doughnuts, cinnamon rolls, apple pie",
        "baking ingredients": "sugar, flour, baking powder, vanilla sugar",
    },
    "pantry": {
        "pasta and rice": "spaghetti, rice, penne, egg noodles, couscous",
        "sauces and oils": "tomato sauce, olive oil, ketchup, mustard, barbecue sauce, pesto, truffle oil",
        "tins and jars": "chopped tomatoes, chickpeas, sweetcorn, baked beans, olives",
        "breakfast foods": "muesli, honey, strawberry jam, corn flakes, peanut butter",
        "spices and world foods": "salt, coconut milk, soy sauce, tortilla wraps, curry paste, saffron",
    },
    "snacks and frozen food": {
        "chocolate and sweets": "milk chocolate, chewing gum, gummy bears, dark chocolate, liquorice",
        "crisps and nuts": "potato crisps, salted peanuts, tortilla chips",
        "biscuits": "chocolate cookies, shortbread, crackers",
        "frozen food": "frozen pizza, vanilla ice cream, oven chips, frozen peas, sorbet",
    },
    "drinks": {
        "water and soft drinks": "mineral water, cola, orange juice, lemonade, energy drink",
        "coffee and tea": "ground coffee, black tea, green tea, cocoa",
        "beer and cider": "lager, wheat beer, cider, alcohol-free beer",
        "wine and spirits": "red wine, white wine, sparkling wine, gin, absinthe",
    },
    "household and care": {
        "cleaning products": "washing-up liquid, laundry detergent, sponges, bathroom cleaner, descaler",
        "paper goods": "toilet paper, kitchen roll, paper napkins, paper cups",
        "baby care": "nappies, baby wipes, baby food, infant formula",
        "body care": "toothpaste, shampoo, soap, razor blades",
        "medicine cabinet": "painkillers, plasters, cough syrup, vitamins, pregnancy test, nicotine patches",
        "pets and garden": "cat food, dog food, charcoal, cat litter",
    },
}

# How often each mission is chosen, and what it is for, the most typical product first.
_MISSIONS = {
    "breakfast": (
        18,
        "whole milk, muesli, eggs, honey, butter, orange juice, fruit yoghurt, ground coffee, "
        "strawberry jam, corn flakes, croissants, peanut butter",
    ),
    "pasta night": (
        14,
        "spaghetti, tomato sauce, parmesan, minced beef, chopped tomatoes, basil, olive oil, "
        "penne, red wine, pesto, mozzarella",
    ),
    "lunch box": (
        13,
        "wholemeal bread, ham, cheddar, apples, turkey slices, cucumber, crackers, plain yoghurt",
    ),
    "barbecue": (
        9,
        "grill sausages, charcoal, burger buns, lager, ketchup, barbecue sauce, steaks, mustard, "
        "lettuce, pork chops, baguettes, wheat beer",
    ),
    "curry": (
        8,
        "chicken breasts, rice, coconut milk, curry paste, onions, coriander, peppers, chickpeas, "
        "soy sauce, egg noodles",
    ),
    "taco night": (6, "tortilla wraps, minced beef, sweetcorn, peppers, tortilla chips, coriander, cheddar"),
    "party": (
        8,
        "potato crisps, cola, lager, salted peanuts, paper cups, sparkling wine, tortilla chips, "
        "gummy bears, gin, lemonade, paper napkins, olives",
    ),
    "film night": (8, "frozen pizza, potato crisps, cola, vanilla ice cream, milk chocolate, gummy bears"),
    "baking": (
        7,
        "flour, sugar, eggs, butter, baking powder, vanilla sugar, whipping cream, dark chocolate, cocoa",
    ),
    "baby": (5, "nappies, baby wipes, baby food, infant formula, bananas, laundry detergent"),
    "cleaning": (
        8,
        "toilet paper, washing-up liquid, laundry detergent, kitchen roll, sponges, bathroom cleaner, "
        "descaler",
    ),
    "bathroom": (5, "toothpaste, shampoo, soap, toilet paper, razor blades"),
    "cold season": (4, "painkillers, cough syrup, lemons, honey, black tea, vitamins, oranges"),
    "pets": (5, "cat food, cat litter, dog food"),
    "Sunday roast": (
        5,
        "whole chicken, potatoes, carrots, onions, frozen peas, red wine, mushrooms, apple pie",
    ),
    "fish supper": (4, "salmon, lemons, potatoes, white wine, prawns, cod, butter"),
}

_STAPLES = "whole milk, white bread, bananas, eggs, tomatoes, butter, mineral water, apples, onions, potatoes"

# Specialities that hardly anyone buys, the rarest first.
_RARE = (
    "truffle oil, saffron, absinthe, quail eggs, dragon fruit, nicotine patches, oysters, pregnancy test, "
    "beef brisket, gluten-free bread, liquorice, sorbet"
)

# Of 1,000 baskets, how many are filled with 1, 2, 3, ... 30 picks; a product picked twice counts once.
# fmt: off
_SIZES = (90, 100, 100, 95, 85, 75, 66, 58, 50, 43, 37, 32, 28, 24, 20,
          17, 14, 12, 10, 8, 7, 6, 5, 4, 4, 3, 3, 2, 1, 1)
# fmt: on

# Of 100 picks, how many belong to a mission, are staples, come from anywhere in the shop.
_SOURCES = (58, 20, 22)


def grocery_sample(rows: int = 5000, seed: int = 0) -> tuple[Transactions, list[list[str]]]:
    """Make up the baskets of a grocery shop, and the hierarchy of its products.

    A basket is filled for one to three shopping missions (breakfast, barbecue, ...), with staples and a few
    products from anywhere. So popular products are hundreds of times as frequent as rare ones, and products
    of a mission occur together. No basket is empty; few rows need not have every product. The same rows and
    seed give the same baskets everywhere. Paths: product, group, department, "all products" (for
    `setveil.Hierarchy.from_paths`).

    >>> data, paths = grocery_sample(1000)
    >>> data.n_rows
    1000
    >>> paths[0]
    ['bananas', 'fresh fruit', 'fruit and vegetables', 'all products']
    """
    if rows < 0:
        raise RequestError(f"A sample of {rows} rows was asked for, expected 0 or more.")
    paths = [
        [product, group, department, _ROOT]
        for department, groups in _SHOP.items()
        for group, products in groups.items()
        for product in products.split(", ")
    ]
    labels = [path[0] for path in paths]
    rng = np.random.Generator(np.random.PCG64(seed))

    size = 1 + _draw(rng, np.array(_SIZES), rows)
    basket = np.repeat(np.arange(rows), size)
    mission_weights = np.array([weight for weight, _ in _MISSIONS.values()])
    missions = _draw(rng, mission_weights, 3 * rows).reshape(rows, 3)
    # A larger basket serves more missions.
    n_missions = 1 + (size > 6).astype(np.int64) + (size > 13)
    which = (rng.random(basket.size) * n_missions[basket]).astype(np.int64)
    source = _draw(rng, np.array(_SOURCES), basket.size)

    # One table of product weights per source: the missions, then the staples, then the whole shop.
    tables = [_by_rank(labels, products) for _, products in _MISSIONS.values()]
    tables += [_by_rank(labels, _STAPLES), _popularity(labels)]
    table = np.where(source == 0, missions[basket, which], len(_MISSIONS) - 1 + source)
    point = rng.random(basket.size)
    codes = np.empty(basket.size, np.int32)
    for number, weights in enumerate(tables):
        mine = table == number
        codes[mine] = _at(point[mine], weights)
    indptr = np.concatenate([[0], np.cumsum(size)])
    return Transactions.from_codes(indptr, codes, labels), paths


def _by_rank(labels: Sequence[str], products: str) -> NDArray[np.int64]:
    # Integer weights (the k-th product 1/(k + 1)), so that no platform rounds a cumulative sum differently.
    weights = np.zeros(len(labels), np.int64)
    for rank, product in enumerate(products.split(", ")):
        weights[labels.index(product)] = 10_000 // (rank + 2)
    return weights


def _popularity(labels: Sequence[str]) -> NDArray[np.int64]:
    weights = np.zeros(len(labels), np.int64)
    for groups in _SHOP.values():
        for products in groups.values():
            for rank, product in enumerate(products.split(", ")):
                weights[labels.index(product)] = 5_000 // (rank + 1)
    for rank, product in enumerate(_RARE.split(", ")):
        weights[labels.index(product)] = 40 + 25 * rank
    return weights


def _draw(rng: np.random.Generator, weights: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Draw n positions, each with a probability in proportion to its integer weight."""
    return _at(rng.random(n), weights)


def _at(points: NDArray[np.float64], weights: NDArray[np.int64]) -> NDArray[np.int64]:
    total = np.cumsum(weights)
    positions: NDArray[np.int64] = np.searchsorted(total, points * total[-1], side="right")
    return positions
