"""The fluid engine: rates in the steady state, on any network with capacities and routed flows.

``FluidNet`` is the engine on arrays; ``FluidCase`` is a document (TOML, ``engine = "fluid"``) that
runs, sweeps and is stored like a packet scenario::

    from ackclock.engines.fluid import FluidNet

    net = FluidNet.from_routes([20, 20, 20, 20, 2], [[0, 2, 3], [1, 2, 4]])
    print(net.max_min())
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
