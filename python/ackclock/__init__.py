"""ackclock: a laboratory for congestion control.

Everything is imported when it is first used, so that ``import ackclock`` costs nothing::

    import ackclock as ac

    net = ac.topology.Dumbbell(pairs=2, rate="10 Mbps", rtt="40 ms")
    flows = [ac.Flow(pair=0, cc=ac.cc.Aimd()), ac.Flow(pair=1, cc=ac.cc.Vegas())]
    print(ac.Scenario(net, flows, duration="30 s").run())

The public names are listed in ``__init__.pyi``, for type checkers and for the import alike.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
