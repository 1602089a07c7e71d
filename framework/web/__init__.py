"""The web view of a run: a page, Storm's REST calls, and metrics for Prometheus.

It runs in a process of its own and knows a run only by the folder through which ``viper top`` sees it too. So
it takes nothing of the run but a snapshot a second, and cannot hold it up.

watch, history         polls the run once a second, and remembers its snapshots
storm, prometheus      the snapshots, in the forms that scrapers of Storm and Prometheus know
address, access        where it is served; who may ask for what there
app                    the addresses, and the functions that answer at each
serving, showing       the server, and the thread beside it that finds the run
static/                the page
"""
