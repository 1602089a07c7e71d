"""A script as it stands in a multilang topology."""

from streamparse import Bolt


class SplitterBolt(Bolt):
    outputs = ["word"]

    def process(self, tup):
        for word in tup.values[0].split():
            self.emit([word])


if __name__ == "__main__":
    SplitterBolt().run()
