"""boto3's batch_writer: page by page, one batch after the other; what is unprocessed goes back into its buffer."""

import json
import os
import resource
import sys
import threading
import time
from queue import SimpleQueue

import boto3
from boto3.dynamodb.conditions import Key


def delete_partition(job):
    table = boto3.resource("dynamodb", endpoint_url=job["endpoint"]).Table(job["tableName"])
    query = {
        "KeyConditionExpression": Key("pk").eq("target"),
        "ProjectionExpression": "pk, sk",
    }
    deleted = 0
    with table.batch_writer() as batch:
        while True:
            page = table.query(**query)
            for item in page["Items"]:
                batch.delete_item(Key=item)
                deleted += 1
            if "LastEvaluatedKey" not in page:
                break
            query["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    return {"deleted": deleted, "finished": True}


def timed(job):
    started_at = time.monotonic()
    try:
        outcome = delete_partition(job)
    except Exception as error:  # whatever it is, the bench tells it
        outcome = {"failure": f"{type(error).__name__}: {error}"}
    return {"milliseconds": (time.monotonic() - started_at) * 1000, **outcome}


def write(line):
    print(json.dumps(line), flush=True)


def read_jobs(jobs):
    for line in sys.stdin:
        jobs.put(json.loads(line))
    # Also in the middle of a job: nobody waits for it any more.
    os._exit(0)


def main():
    jobs = SimpleQueue()
    threading.Thread(target=read_jobs, args=(jobs,), daemon=True).start()
    write({"ready": True})
    while True:
        result = timed(jobs.get())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        write({**result, "peakRss": peak * 1024})


main()
