"""What cases about rounds over claims share."""

STATUS = r"/resourceclaims/[^/?]+/status"


def ready(t, nodes=1, each=2):
    for name in t.nodes(nodes):
        t.gpus(name, each)
    t.driver_class()
    t.template("one")


def kill_after(t, number):
    """Lets the daemon die right after the server has done so many of its writes; returns the list
    of those that were done. Events and dry runs are no part of a round."""
    daemon, done = t.daemon, []

    def after(request):
        if not request.is_write or "/events" in request.path or "dryRun" in request.path:
            return
        done.append(f"{request.method} {request.path.partition('?')[0]}")
        if len(done) == number:
            daemon.kill()

    t.proxy.add(after=after)
    return done
