"""The version, in the one place that the package's metadata and ``viper --version`` read it from."""

VERSION = "0.1.0"
