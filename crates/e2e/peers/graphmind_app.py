"""A program instrumented with the published Python SDK. Commands come as JSON lines, answers go as JSON lines.

{"id":1,"do":"call","run":"trip","tool":"search","arguments":{"city":"Lisbon"}} runs one tool inside one run.
"""

import json
import sys
import threading

import graphmind as gm

# before the first tool: a tool belongs to the instance there was when it was made
gm.configure(app="e2e-python")

tries: dict[str, int] = {}
said = threading.Lock()


@gm.tool
def search(city: str) -> dict:
    tries["search"] = tries.get("search", 0) + 1
    return {"city": city, "price": 218}


@gm.tool
def flaky(city: str) -> dict:
    tries["flaky"] = tries.get("flaky", 0) + 1
    if tries["flaky"] == 1:
        raise ValueError("not yet")
    return {"city": city, "tries": tries["flaky"]}


TOOLS = {"search": search, "flaky": flaky}


def say(line: dict) -> None:
    with said:
        print(json.dumps(line), flush=True)


def perform(asked: dict) -> None:
    try:
        say({"id": asked["id"], "result": answer(asked)})
    except BaseException as error:  # an abort is what a test may want to see
        say({"id": asked["id"], "error": {"name": type(error).__name__, "message": str(error)}})


def answer(asked: dict) -> object:
    match asked["do"]:
        case "ready":
            return gm.instance().ready(timeout=asked.get("timeout", 10.0))
        case "call":
            with gm.run(asked["run"]) as run:
                return {"run": run.run_id, "value": TOOLS[asked["tool"]](**asked["arguments"])}
        case "tries":
            return tries
        case "stats":
            return gm.instance().session.stats().as_dict()
    raise ValueError(f"does not know: {asked['do']}")


say({"id": 0, "result": {"sdk": gm.__version__}})
open_calls = []
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "close":
        break
    # each on its own thread: a held call must not hold the next command
    thread = threading.Thread(target=perform, args=(asked,))
    thread.start()
    open_calls.append(thread)
for thread in open_calls:
    thread.join()
say({"id": "closed"})
