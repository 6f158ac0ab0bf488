"""Devices of several shapes, as drivers publish them, for the selectors of cel_corpus.txt.

The selectors stand one on a line, the names of the shapes in brackets above those they are asked
of; `[*]` is every shape. A line that begins with # is a comment.
"""

GPU = {
    "driver": "gpu.nvidia.com",
    "attributes": {
        "type": {"string": "gpu"}, "productName": {"string": "NVIDIA A100-SXM4-40GB"},
        "driverVersion": {"version": "550.54.15"}, "index": {"int": 2},
        "uuid": {"string": "GPU-5c0d"}, "resource.kubernetes.io/pcieRoot": {"string": "pci0000:01"},
        "resource.kubernetes.io/numaNode": {"int": 0},
    },
    "capacity": {"memory": {"value": "40Gi"}},
}
SHAPES = {
    "gpu": GPU,
    "mig": {
        "driver": "gpu.nvidia.com",
        "attributes": {"type": {"string": "mig"}, "profile": {"string": "1g.12gb"},
                       "parentUUID": {"string": "GPU-5c0d"},
                       "driverVersion": {"version": "535.0.0-rc.1+build"}},
        "capacity": {"memory": {"value": "11776Mi"}, "multiprocessors": {"value": "14"}},
    },
    "channel": {
        "driver": "compute-domain.nvidia.com",
        "attributes": {"type": {"string": "channel"}, "id": {"int": 0}},
    },
    "amd": {"driver": "gpu.amd.com", "attributes": {"type": {"string": "amdgpu"}}},
    "nic": {
        "driver": "dra.net", "allowMultipleAllocations": False,
        "attributes": {"rdma": {"bool": True}, "ifName": {"string": "gpu3rdma0"}},
    },
    "plain-nic": {
        "driver": "dra.net",
        "attributes": {"rdma": {"bool": False}, "ifName": {"string": "dummy0"}},
    },
    "tpu": {"driver": "tpu.google.com", "allowMultipleAllocations": True,
            "capacity": {"tpus": {"value": "8"}}},
    "example": {
        "driver": "dra.example.com", "allowMultipleAllocations": True,
        "attributes": {
            "someBool": {"bool": True}, "anotherBool": {"bool": False},
            "topology": {"string": "a-b-c"}, "models": {"strings": ["some-model", "another"]},
            "gpu.example.com/model": {"string": "LATEST-GPU-MODEL"},
        },
        "capacity": {"name": {"value": "2Ki"}, "other.example.com/name": {"value": "1"}},
    },
    "lists": {
        "driver": "dra.example.com",
        "attributes": {
            "models": {"strings": []}, "topology": {"strings": ["a-b"]},
            "someBool": {"bools": [True, False]}, "anotherBool": {"ints": [1, 2]},
            "gpu.example.com/model": {"versions": ["1.0.0", "2.0.0"]},
        },
    },
    "collision": {
        "driver": "dra.example.com",
        "attributes": {"topology": {"string": "bare"}, "someBool": {"bool": False},
                       "dra.example.com/topology": {"string": "a-qualified"},
                       "dra.example.com/someBool": {"bool": True}, "anotherBool": {"bool": True}},
        "capacity": {"name": {"value": "1"}, "dra.example.com/name": {"value": "1Mi"}},
    },
    "bare": {"driver": "gpu.example.com"},
    "no-driver": {"driver": "", "attributes": {"type": {"string": "gpu"}}},
    "bad-version": {**GPU, "attributes": {**GPU["attributes"],
                                          "driverVersion": {"version": "550.54"}}},
    "leading-zero": {**GPU, "attributes": {"driverVersion": {"version": "1.02.0"}}},
    "v-version": {"driver": "dra.example.com", "attributes": {
        "gpu.nvidia.com/driverVersion": {"version": "v1.2.3"}, "someBool": {"bool": True}}},
    "bad-version-in-list": {"driver": "dra.example.com", "attributes": {
        "models": {"versions": ["1.0.0", "two"]}, "someBool": {"bool": True}}},
    "no-value": {"driver": "dra.example.com", "attributes": {
        "someBool": {}, "topology": {"string": "a-b"}}},
}


def listed(path):
    """The (shape, expression) of a file of selectors."""
    names = []
    with open(path, encoding="utf-8") as lines:
        for line in filter(None, map(str.strip, lines)):
            if line.startswith("["):
                names = list(SHAPES) if line == "[*]" else line[1:-1].split()
            elif not line.startswith("#"):
                yield from ((name, line) for name in names)
