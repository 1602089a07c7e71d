"""Linear Road on columns; it wants numpy and pyarrow. The application is that of `linear_road_builder`.

    viper run topologies/linear_road_batches.py
"""

from linear_road import batches
from linear_road_builder import linear_road

from viperstorm.sinks import TextSink

topology = linear_road(
    batches.Generated(seconds=600, injectors=2), TextSink("linear_road.csv"), forms=batches
).build("linear-road")
