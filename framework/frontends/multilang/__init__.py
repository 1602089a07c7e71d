"""Components that are programs in any language, by Storm's multilang protocol; see ``docs/multilang.md``."""
