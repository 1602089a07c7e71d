"""Making a dataset by a Spark job, unless it is there already."""
