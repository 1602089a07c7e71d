"""The two extension modules and the packages; everything else about the distribution is in setup.cfg.

`cffi_modules` is no key of setup.cfg: it would be ignored there without a word. And a folder that is
installed under another name cannot be added there to the packages that are found.
"""

import sysconfig
from glob import glob

from setuptools import Extension, find_packages, setup

# Free-threaded builds of CPython have no stable ABI as yet: there the wheel fits one version only.
STABLE_ABI = not sysconfig.get_config_var("Py_GIL_DISABLED")

rows = Extension(
    "viper._rows",
    sources=sorted(glob("viper/csrc/*.c")),
    depends=sorted(glob("viper/csrc/*.h")),
    extra_compile_args=["-std=c11", "-Wall", "-Wextra"],
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE_ABI else [],
    py_limited_api=STABLE_ABI,
)

setup(
    # The shipped defaults are data of the framework: no package named conf is installed.
    packages=[*find_packages(include=["framework*", "viper*", "spark_ingest*"]), "framework.conf"],
    package_dir={"framework.conf": "conf"},
    cffi_modules=["cbackend/build.py:ffibuilder"],
    ext_modules=[rows],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {},
)
