"""Amounts of nodes and pods as the API server serves them."""

import objects

# What a pod asks for, and what it counts as: a node with this amount takes it, one less does not.
_COUNTS = (
    ("memory", "0.5Gi", 536870912),
    ("memory", "1536Mi", 1610612736),
    ("memory", "128974848", 128974848),
    ("memory", "123Mi", 128974848),
    ("memory", "129e6", 129000000),
    ("memory", "129M", 129000000),
    ("memory", "1.5", 2),
    ("cpu", "0.1", 100),
    ("cpu", "100m", 100),
    ("cpu", "1500u", 2),
    ("cpu", "+1", 1000),
)


def _container(name, cpu, **more):
    return {"name": name, "image": "none", "resources": {"requests": {"cpu": cpu}}, **more}


def _only(resource, value):
    """Arguments of a pod that asks for nothing else."""
    return {"cpu": None, "memory": None, "requests": {resource: value}}


def B177_fractions_units_and_exponents_count_exactly(t):
    unit = {"cpu": "m", "memory": ""}
    for row, (resource, asked, amount) in enumerate(_COUNTS):
        for room in (amount, amount - 1):
            name = f"r{row}-{'enough' if room == amount else 'short'}"
            t.node(name, labels={"row": name}, **{resource: f"{room}{unit[resource]}"})
            t.pod(name, nodeSelector={"row": name}, **_only(resource, asked))
    t.start()
    fitting = [f"r{row}-enough" for row in range(len(_COUNTS))]
    t.wait_bound(fitting)
    for row, (resource, _, _) in enumerate(_COUNTS):
        t.wait_refused(f"r{row}-short", (f"Insufficient {resource}",))
    assert sorted(t.placed()) == sorted(fitting)


def B177_amounts_that_no_node_has_wait(t):
    t.node("n1", memory="1.5Ti", cpu="7910m", ephemeral_storage="9e11")
    t.start()
    for name, amount in (("exa", "1E"), ("pebi", "2Pi")):
        t.pod(name, **_only("memory", amount))
        t.wait_refused(name, ("Insufficient memory",))
    t.pod("storage", **_only("ephemeral-storage", "900000000001"))
    t.wait_refused("storage", ("Insufficient ephemeral-storage",))
    t.pod("storage-fits", **_only("ephemeral-storage", "900G"))
    t.pod("memory-fits", **_only("memory", "1.5Ti"))
    t.pod("cpu-fits", **_only("cpu", "7.91"))
    t.wait_bound(["storage-fits", "memory-fits", "cpu-fits"])


def B177_a_sum_of_fractions_is_exact(t):
    t.node("n1", memory="2Gi")
    t.start()
    names = [f"half-{i}" for i in range(4)]
    for name in names:
        t.pod(name, **_only("memory", "0.5Gi"))
    t.wait_bound(names)
    t.pod("byte", **_only("memory", "1"))
    t.wait_refused("byte", ("Insufficient memory",))


def B179_a_wrong_spelling_is_not_zero_and_not_unlimited(t):
    wrong = ("6 GiB", "6GB", "0x10", "1,5Gi", "")
    proxy = t.make_proxy()

    def misspell(data):
        for i, text in enumerate(wrong):
            data = data.replace(b'"memory":"%dMi"' % (6001 + i),
                                b'"memory":"%s"' % text.encode())
        return data

    proxy.add(method="GET", path=r"^/api/v1/nodes\?", rewrite=misspell)
    for i in range(len(wrong)):
        t.node(f"wrong{i}", memory=f"{6001 + i}Mi", labels={"n": f"wrong{i}"})
    t.node("good", memory="6Gi")
    t.node("less", memory="6G")
    t.start(through_proxy=True)
    t.pod("first", **_only("memory", "6Gi"))
    assert t.wait_bound(["first"]) == {"first": "good"}
    t.pod("second", **_only("memory", "6Gi"))
    t.wait_refused("second", ("0/7 nodes are available",))
    for i in range(len(wrong)):
        t.pod(f"cpu-{i}", nodeSelector={"n": f"wrong{i}"}, **_only("cpu", "1"))
    t.wait_bound([f"cpu-{i}" for i in range(len(wrong))])
    for i in range(len(wrong)):
        lines = [line for line in t.daemon.log_lines(f"{t.prefix}wrong{i}") if "memory" in line]
        assert len(lines) == 1, lines


def B180_a_node_that_shrank_below_its_use(t):
    t.node("n1", cpu="4")
    old = [f"old-{i}" for i in range(4)]
    t.start()
    for name in old:
        t.pod(name, cpu="1")
    t.wait_bound(old)
    t.set_allocatable("n1", cpu="3")
    for name in old[:2]:
        t.delete_pod(name)
    names = [f"new-{i}" for i in range(4)]
    for name in names:
        t.pod(name, cpu="333m")
    t.wait_bound(names, 3)
    t.hold_bound(names, 3)
    assert t.daemon.health("/healthz") == 200


def B182_sidecars_init_containers_and_overhead(t):
    runtime = t.prefix + "with-overhead"
    t.create_global({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass",
                     "metadata": {"name": runtime}, "handler": "none",
                     "overhead": {"podFixed": {"cpu": "250m"}}}, "node.k8s.io/v1/runtimeclasses")
    sidecar = _container("side", "1", restartPolicy="Always")
    plain = _container("init", "3")
    main = [_container("one", "1"), _container("two", "1")]
    variants = {"first": ([sidecar, plain], 1), "second": ([plain, sidecar], 5)}
    for variant in variants:
        t.node(variant, cpu="4500m", labels={"variant": variant})
    t.start()
    for variant, (init, rest) in variants.items():
        where = {"variant": variant}
        t.pod(f"{variant}-big", runtimeClassName=runtime, initContainers=init, containers=main,
              nodeSelector=where)
        t.wait_bound([f"{variant}-big"])
        names = [f"{variant}-{i}" for i in range(rest + 1)]
        for name in names:
            t.pod(name, cpu="250m", nodeSelector=where)
        t.wait_bound(names, rest)
        t.hold_bound(names, rest, seconds=2)


def B184_pod_level_resources_and_defaults(t):
    t.node("n1", cpu="4", gpu=1)
    t.start()
    t.pod("a", containers=[_container("one", "500m"), _container("two", "500m")],
          resources={"requests": {"cpu": "3"}})
    t.wait_bound(["a"])
    t.pod("large", cpu="1500m")
    t.wait_refused("large", ("Insufficient cpu",))
    t.pod("fits", cpu="1")
    t.wait_bound(["fits"])
    limits = [{"name": "main", "image": "none", "resources": {"limits": {objects.GPU: "1"}}}]
    t.pod("b", containers=limits)
    t.wait_bound(["b"])
    t.pod("b2", containers=limits)
    t.wait_refused("b2", ("Insufficient nvidia.com/gpu",))
    t.pod("c", cpu=None, memory=None)
    t.wait_bound(["c"])


def B185_allocatable_counts_and_not_capacity(t):
    amounts = {"n1": ("8", "7"), "n2": ("8", None), "n3": ("8", "0"), "n4": ("4", "3")}
    for name, (capacity, allocatable) in amounts.items():
        t.node(name, gpu=int(capacity), labels={"n": name})
        t.set_allocatable(name, gpu=allocatable)
    for name, (capacity, _) in amounts.items():
        t.client.patch("nodes", t.prefix + name, {"status": {"capacity": {objects.GPU: capacity}}},
                       subresource="status")
    for i in range(4):
        t.foreign(f"old-{i}", "n4", gpu=1)
    t.start()
    pair = t.gang_of("pair", 2, gpu=4)
    t.wait_condition("pair", "False", "Unschedulable", ("1 scheduled",))
    t.gang_of("one", 1, gpu=4)
    assert t.wait_bound(["one-0"]) == {"one-0": "n1"}
    names = ["pinned-0", "pinned-1"]
    for name in names:
        t.pod(name, gpu=1, nodeSelector={"n": "n4"})
    t.hold_bound(names + pair, 0)
    t.delete_pod("old-0", grace=0)
    t.delete_pod("old-1", grace=0)
    t.wait_bound(names, 1)
    t.hold_bound(names, 1, seconds=3)


TESTS = [
    B177_fractions_units_and_exponents_count_exactly,
    B177_amounts_that_no_node_has_wait,
    B177_a_sum_of_fractions_is_exact,
    B179_a_wrong_spelling_is_not_zero_and_not_unlimited,
    B180_a_node_that_shrank_below_its_use,
    B182_sidecars_init_containers_and_overhead,
    B184_pod_level_resources_and_defaults,
    B185_allocatable_counts_and_not_capacity,
]
