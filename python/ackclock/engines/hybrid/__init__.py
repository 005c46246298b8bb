"""The hybrid engine: few flows as packets, the mass of the others as rates.

``HybridCase`` is a packet scenario with a table ``background`` (TOML, ``engine = "hybrid"``). Its
flows run packet by packet over what the background, a fluid of max-min rates, leaves of each link::

    from ackclock.engines.registry import load_case

    print(load_case("examples/hybrid/backbone.toml").execute())
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
