"""``python -m viperstorm``: the command ``viper`` where its script is not on the PATH."""

from framework.cli import main

main(prog_name="viper")
