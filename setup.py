"""The two extension modules and the packages; everything else about the distribution is in setup.cfg.

`cffi_modules` is no key of setup.cfg: it would be ignored there without a word. And a folder that is
installed under another name cannot be added there to the packages that are found.
"""

from glob import glob

from setuptools import Extension, find_packages, setup

# What both modules are made of: state is written, and transactions are told, by functions of either.
STATE_NAMES = (
    *("bytes", "changes", "heap", "keyed", "pool", "snapshot", "writer"),
    *("shared", "txlog", "txgroup", "program", "evaluation", "evaluate", "progress"),
    *("position", "line", "bits", "array"),
)
STATE = [f"cbackend/src/{name}.c" for name in STATE_NAMES]

# viper._backend, through cffi, keeps to the stable ABI; this one does not, for its speed (csrc/rows/rows.h).
rows = Extension(
    "viper._rows",
    sources=sorted(glob("viper/csrc/*.c") + glob("viper/csrc/*/*.c")) + STATE,
    depends=sorted(glob("viper/csrc/*/*.h") + glob("cbackend/**/*.h", recursive=True)),
    include_dirs=["viper/csrc", "cbackend/include", "cbackend/src"],
    # What is called for each row lies in other files; unless hidden it is looked up in the linker's table.
    extra_compile_args=["-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden"],
)

setup(
    # The shipped defaults are data of the framework: no package named conf is installed.
    packages=[*find_packages(include=["framework*", "viper*", "spark_ingest*"]), "framework.conf"],
    package_dir={"framework.conf": "conf"},
    cffi_modules=["cbackend/build.py:ffibuilder"],
    ext_modules=[rows],
)
