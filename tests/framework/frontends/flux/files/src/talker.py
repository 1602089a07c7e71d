"""A script that would read from stdin as soon as it is imported."""

from streamparse import Bolt


class TalkerBolt(Bolt):
    def process(self, tup):
        self.emit(tup.values)


TalkerBolt().run()
