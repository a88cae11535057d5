"""The papers of the algorithms, as BibTeX, and setveil itself."""

from __future__ import annotations

import re

from setveil.base.version import __version__


def _entry(kind: str, key: str, **fields: str) -> str:
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@{kind}{{{key},\n{lines}\n}}"


SETVEIL = _entry(
    "software",
    "setveil",
    author="{The setveil developers}",
    title="{setveil}: transaction data published with a privacy guarantee that is re-checked from the rows",
    version=__version__,
    url="https://github.com/setveil/setveil",
)
VLDB_2008 = _entry(
    "article",
    "terrovitis2008privacy",
    author="Terrovitis, Manolis and Mamoulis, Nikos and Kalnis, Panos",
    title="Privacy-preserving Anonymization of Set-valued Data",
    journal="Proceedings of the VLDB Endowment",
    volume="1",
    number="1",
    year="2008",
    doi="10.14778/1453856.1453874",
)
VLDBJ_2011 = _entry(
    "article",
    "terrovitis2011local",
    author="Terrovitis, Manolis and Mamoulis, Nikos and Kalnis, Panos",
    title="Local and Global Recoding Methods for Anonymizing Set-valued Data",
    journal="The VLDB Journal",
    volume="20",
    number="1",
    year="2011",
    doi="10.1007/s00778-010-0192-8",
)
VLDB_2009 = _entry(
    "article",
    "he2009anonymization",
    author="He, Yeye and Naughton, Jeffrey F.",
    title="Anonymization of Set-valued Data via Top-down, Local Generalization",
    journal="Proceedings of the VLDB Endowment",
    volume="2",
    number="1",
    year="2009",
    doi="10.14778/1687627.1687733",
)
VLDB_2012 = _entry(
    "article",
    "terrovitis2012disassociation",
    author="Terrovitis, Manolis and Liagouris, John and Mamoulis, Nikos and Skiadopoulos, Spiros",
    title="Privacy Preservation by Disassociation",
    journal="Proceedings of the VLDB Endowment",
    volume="5",
    number="10",
    year="2012",
    doi="10.14778/2336664.2336668",
)
PVLDB_2012_PRIVBASIS = _entry(
    "article",
    "li2012privbasis",
    author="Li, Ninghui and Qardaji, Wahbeh and Su, Dong and Cao, Jianneng",
    title="PrivBasis: Frequent Itemset Mining with Differential Privacy",
    journal="Proceedings of the VLDB Endowment",
    volume="5",
    number="11",
    year="2012",
    doi="10.14778/2350229.2350251",
)
PAKDD_2010 = _entry(
    "inproceedings",
    "liu2010anonymizing",
    author="Liu, Junqiang and Wang, Ke",
    title="Anonymizing Transaction Data by Integrating Suppression and Generalization",
    booktitle="Advances in Knowledge Discovery and Data Mining (PAKDD)",
    year="2010",
    doi="10.1007/978-3-642-13657-3_20",
)
ICDM_2008 = _entry(
    "inproceedings",
    "xu2008publishing",
    author="Xu, Yabo and Fung, Benjamin C. M. and Wang, Ke and Fu, Ada Wai-Chee and Pei, Jian",
    title="Publishing Sensitive Transactions for Itemset Utility",
    booktitle="IEEE International Conference on Data Mining (ICDM)",
    year="2008",
    doi="10.1109/ICDM.2008.98",
)
KDD_2008 = _entry(
    "inproceedings",
    "xu2008anonymizing",
    author="Xu, Yabo and Wang, Ke and Fu, Ada Wai-Chee and Yu, Philip S.",
    title="Anonymizing Transaction Databases for Publication",
    booktitle="ACM SIGKDD International Conference on Knowledge Discovery and Data Mining (KDD)",
    year="2008",
    doi="10.1145/1401890.1401982",
)
ICDE_2008 = _entry(
    "inproceedings",
    "ghinita2008anonymization",
    author="Ghinita, Gabriel and Tao, Yufei and Kalnis, Panos",
    title="On the Anonymization of Sparse High-Dimensional Data",
    booktitle="IEEE International Conference on Data Engineering (ICDE)",
    year="2008",
    doi="10.1109/ICDE.2008.4497480",
)
KAIS_2011 = _entry(
    "article",
    "loukides2011coat",
    author="Loukides, Grigorios and Gkoulalas-Divanis, Aris and Malin, Bradley",
    title="{COAT}: {CO}nstraint-based anonymization of transactions",
    journal="Knowledge and Information Systems",
    volume="28",
    number="2",
    year="2011",
    doi="10.1007/s10115-010-0354-4",
)
PAIS_2011 = _entry(
    "inproceedings",
    "gkoulalas2011pcta",
    author="Gkoulalas-Divanis, Aris and Loukides, Grigorios",
    title="{PCTA}: privacy-constrained clustering-based transaction data anonymization",
    booktitle="International Workshop on Privacy and Anonymity in the Information Society (PAIS)",
    year="2011",
    doi="10.1145/1971690.1971695",
)
PVLDB_2010 = _entry(
    "article",
    "cao2010uncertainty",
    author='Cao, Jianneng and Karras, Panagiotis and Ra{\\"\\i}ssi, Chedy and Tan, Kian-Lee',
    title="$\\rho$-uncertainty: inference-proof transaction anonymization",
    journal="Proceedings of the VLDB Endowment",
    volume="3",
    number="1",
    year="2010",
    doi="10.14778/1920841.1920971",
)
DASFAA_2014 = _entry(
    "inproceedings",
    "jia2014uncertainty",
    author="Jia, Xiao and Pan, Chao and Xu, Xinhui and Zhu, Kenny Q. and Lo, Eric",
    title="$\\rho$-uncertainty anonymization by partial suppression",
    booktitle="Database Systems for Advanced Applications (DASFAA)",
    year="2014",
)
PKDD_2013 = _entry(
    "inproceedings",
    "poulis2013anonymizing",
    author="Poulis, Giorgos and Loukides, Grigorios and Gkoulalas-Divanis, Aris and Skiadopoulos, Spiros",
    title="Anonymizing Data with Relational and Transaction Attributes",
    booktitle="Machine Learning and Knowledge Discovery in Databases (ECML PKDD)",
    year="2013",
    doi="10.1007/978-3-642-40994-3_23",
)
ICDE_2006 = _entry(
    "inproceedings",
    "lefevre2006mondrian",
    author="LeFevre, Kristen and DeWitt, David J. and Ramakrishnan, Raghu",
    title="Mondrian Multidimensional $k$-Anonymity",
    booktitle="IEEE International Conference on Data Engineering (ICDE)",
    year="2006",
    doi="10.1109/ICDE.2006.101",
)


def together(*entries: str) -> str:
    """Put entries below each other, each once."""
    return "\n\n".join(dict.fromkeys(part for entry in entries for part in entry.split("\n\n") if part))


def made_of(name: str, title: str, reference: str) -> str:
    """Make an entry of a reference in words."""
    doi = re.search(r"doi:\s*(\S*[^\s.,;])", reference)
    said = reference.replace("{", "(").replace("}", ")")
    fields = {"title": title, "note": said} | ({"doi": doi[1]} if doi else {})
    return _entry("misc", name, **fields)
