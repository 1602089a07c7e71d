"""The commands of ``viper`` that this package adds, a file each; ``viper`` finds them by their entry points.

Only click is imported at the top, so that ``viper --help`` stays quick.
"""
