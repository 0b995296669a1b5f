"""The study's 17 datasets, one small entry each.

The URLs are those that public code uses today; none was tried where this was written. Whatever a home serves, only the
file whose checksum is below becomes a result. n and d are what the readers leave.
"""

from __future__ import annotations

from studies.datasets import readers
from studies.datasets.dataset import Dataset, log1p

_UCI = "https://archive.ics.uci.edu"
_CC_BY = "CC BY 4.0"
_BOSTON = ("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT", "MEDV")
_YACHT = ("buoyancy", "prismatic", "length_displacement", "beam_draught", "length_beam", "froude", "resistance")


def _page(number: int) -> str:
    return f"{_UCI}/dataset/{number}"


def _zip(number: int, slug: str) -> str:
    return f"{_UCI}/static/public/{number}/{slug}.zip"


_ENTRIES = (
    Dataset(
        name="blog",
        page=_page(304),
        url=_zip(304, "blogfeedback"),
        file="blogData_train.csv",
        digest="sha256:f3cc953ea9913361be6d3bae2c393eef73eab57b1cb8e5bf8a22f1e5eb5dd05f",
        n=52_397,
        d=280,
        target="comments",
        transform=log1p,
        reader=readers.Headless(readers.numbered(280, "comments")),
        licence=_CC_BY,
    ),
    Dataset(
        # StatLib, its first home, has another layout; these are the bytes that UCI had before it withdrew the page.
        # Column B encodes a racial share, for which others dropped the dataset; it stays because the paper has it.
        name="boston",
        page="https://lib.stat.cmu.edu/datasets/boston",
        url=f"{_UCI}/ml/machine-learning-databases/housing/housing.data",
        file="boston_housing.txt",
        digest="sha256:baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
        n=506,
        d=13,
        target="MEDV",
        reader=readers.Headless(_BOSTON, readers.BLANKS),
        licence="none stated (Harrison and Rubinfeld 1978)",
    ),
    Dataset(
        name="concrete",
        page=_page(165),
        url=_zip(165, "concrete+compressive+strength"),
        file="Concrete_Data.xls",
        digest="sha256:710076c66b9ca3f8050e7942f3dcbdbe04013534daeb0077ffd3079a52d8e0c4",
        n=1_030,
        d=8,
        target="Concrete compressive strength",
        reader=readers.concrete,
        licence=f"{_CC_BY}; keep the notice of Prof. I-Cheng Yeh",
        bundled="concrete/Concrete_Data.xls",
    ),
    Dataset(
        name="crime",
        page=_page(183),
        url=_zip(183, "communities+and+crime"),
        file="communities.data",
        digest="sha256:09e0b5c07eae24c1efab19b2edee05e160e7f5743b6f31e31eec3d73624da2ea",
        n=1_993,
        d=100,
        target="ViolentCrimesPerPop",
        reader=readers.crime,
        licence=f"{_CC_BY}; asks to be cited",
        bundled="communities/communities.data",
    ),
    Dataset(
        name="energy-efficiency",
        page=_page(242),
        url=_zip(242, "energy+efficiency"),
        file="ENB2012_data.xlsx",
        digest="sha256:0089fcffc1415e41e2ff63730cca5280efe54fc43d722dfde1b0aaa808e35dc4",
        n=768,
        d=8,
        target="Y2",
        reader=readers.Sheet((*(f"X{i}" for i in range(1, 9)), "Y2")),
        licence=_CC_BY,
    ),
    Dataset(
        name="fb-comment1",
        page=_page(363),
        url=_zip(363, "facebook+comment+volume+dataset"),
        file="Features_Variant_1.csv",
        digest="sha256:f8a739d1d95318694a7827fe5cc07d7ff5478ef9200a529f7625f8a45838a611",
        n=40_949,
        d=53,
        target="comments",
        transform=log1p,
        reader=readers.Headless(readers.numbered(53, "comments")),
        licence=_CC_BY,
    ),
    Dataset(
        name="fb-comment2",
        page=_page(363),
        url=_zip(363, "facebook+comment+volume+dataset"),
        file="Features_Variant_2.csv",
        digest="git:482e6dbf45ffefd85fa9c6550c731b12be73868d",
        n=81_312,
        d=53,
        target="comments",
        transform=log1p,
        reader=readers.Headless(readers.numbered(53, "comments")),
        licence=_CC_BY,
    ),
    Dataset(
        name="forest-fires",
        page=_page(162),
        url=_zip(162, "forest+fires"),
        file="forestfires.csv",
        digest="sha256:0d6586a1fa52f55bef48578aef14eb97273f1e9330e1a53423df497a77065253",
        n=517,
        d=21,
        target="area",
        transform=log1p,
        reader=readers.forest_fires,
        licence=f"{_CC_BY}; for research",
        bundled="forestfires/forestfires.csv",
    ),
    Dataset(
        name="kin8nm",
        page="https://www.openml.org/d/189",
        url="https://www.openml.org/data/get_csv/3626/dataset_2175_kin8nm.arff",
        file="dataset_2175_kin8nm.csv",
        digest="sha256:7b9bf0301ac936d88122557a151e1ba8f1ebc278fcf46d9f3c6d462debdbc8ad",
        n=8_192,
        d=8,
        target="y",
        reader=readers.Headed(),
        licence="public",
    ),
    Dataset(
        # n and d as published; the labels are taken as the file has them, by its recipe log(1 + utilisation) already.
        name="medical-expenditure",
        page="https://meps.ahrq.gov/mepsweb/data_stats/download_data_files_detail.jsp?cboPufNumber=HC-192",
        url=None,  # made of AHRQ's public-use file MEPS HC-192 (2016, h192.ssp)
        file="meps_data.npz",
        digest="git:8b0b37da02580c3b1dc337b8784362a5109d26df",
        n=33_005,
        d=107,
        target="y",
        reader=readers.arrays,
        licence="US public-use file; AHRQ's data use agreement: no re-identification, no linking",
    ),
    Dataset(
        name="mpg",
        page=_page(9),
        url=_zip(9, "auto+mpg"),
        file="auto-mpg.data",
        digest="sha256:48b830e11feee5572525f8f1691ddb9d38d3d7b7063edcd8fca672c2a5e17d8d",
        n=392,
        d=9,
        target="mpg",
        reader=readers.mpg,
        licence=_CC_BY,
    ),
    Dataset(
        name="naval",
        page=_page(316),
        url=_zip(316, "condition+based+maintenance+of+naval+propulsion+plants"),
        file="data.txt",
        digest="sha256:de0ea69da1efaab8b9655ffed828547d10dd68c1fb8c6e0163e6a988def393a6",
        n=11_934,
        d=16,
        target="turbine_decay",
        reader=readers.naval,
        licence=f"{_CC_BY}, but its own readme prohibits any commercial use",
    ),
    Dataset(
        name="power-plant",
        page=_page(294),
        url=_zip(294, "combined+cycle+power+plant"),
        file="Folds5x2_pp.xlsx",
        digest="sha256:ccd490981db2a2f079963b3d9f0aea30d9d338900a0285428dfc6385396f4651",
        n=9_568,
        d=4,
        target="PE",
        reader=readers.Sheet(("AT", "V", "AP", "RH", "PE")),
        licence=_CC_BY,
        bundled="ccpp/Folds5x2_pp.xlsx",
    ),
    Dataset(
        name="protein",
        page=_page(265),
        url=_zip(265, "physicochemical+properties+of+protein+tertiary+structure"),
        file="CASP.csv",
        digest="sha256:4277cfcb4e91a181746cbc654f001b57951c9e6a80f4f795fdb5c807e0848f40",
        n=45_730,
        d=9,
        target="RMSD",
        reader=readers.Headed(),
        licence=_CC_BY,
        bundled="casp/CASP.csv",
    ),
    Dataset(
        name="super-conductivity",
        page=_page(464),
        url=_zip(464, "superconductivty+data"),  # so spelt
        file="train.csv",
        digest="git:51bc6e66c5b83dc1d1c906197ed406fb18d130c0",
        n=21_263,
        d=81,
        target="critical_temp",
        reader=readers.Headed(),
        licence=_CC_BY,
    ),
    Dataset(
        name="wine",
        page=_page(186),
        url=_zip(186, "wine+quality"),
        file="winequality-red.csv",
        digest="sha256:4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
        n=1_599,
        d=11,
        target="quality",
        reader=readers.Headed(";"),
        licence=f"{_CC_BY}; for research",
        bundled="winequality_red/winequality-red.csv",
    ),
    Dataset(
        name="yacht",
        page=_page(243),
        url=_zip(243, "yacht+hydrodynamics"),
        file="yacht_hydrodynamics.data",
        digest="sha256:00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
        n=308,
        d=6,
        target="resistance",
        reader=readers.Headless(_YACHT, readers.BLANKS),
        licence=_CC_BY,
        bundled="yacht_hydrodynamics/yacht_hydrodynamics.data.txt",
    ),
)

DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ENTRIES}
"""The study's datasets by name, in the alphabet's order."""
