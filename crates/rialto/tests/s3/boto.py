"""Uses a venue through an unmodified boto3 with its default settings.

    boto.py PHASE ENDPOINT      (the key is in the usual environment variables)

A phase ends with status 0 if all of it holds.
"""

import hashlib
import json
import pathlib
import sys
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

PART = 5 << 20
STATE = pathlib.Path("upload.json")


def content(size, seed=1):
    block = hashlib.sha512(str(seed).encode()).digest() * 1024
    return (block * (size // len(block) + 1))[:size]


def refused(code, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        got = error.response["Error"]["Code"]
        assert got == code, f"{got} instead of {code}"
        return error.response
    raise AssertionError(f"{code} was expected, and nothing was refused")


def objects(s3):
    s3.create_bucket(Bucket="acme")
    refused("BucketAlreadyOwnedByYou", s3.create_bucket, Bucket="acme")
    assert [it["Name"] for it in s3.list_buckets()["Buckets"]] == ["acme"]
    s3.head_bucket(Bucket="acme")

    stored = s3.put_object(
        Bucket="acme", Key="out/a b+ü.csv", Body=b"1,2,3", ContentType="text/csv",
        CacheControl="no-store", Metadata={"desk": "fx"},
    )
    got = s3.get_object(Bucket="acme", Key="out/a b+ü.csv")
    assert got["Body"].read() == b"1,2,3" and got["ETag"] == stored["ETag"]
    assert got["ContentType"] == "text/csv" and got["Metadata"] == {"desk": "fx"}
    assert got["CacheControl"] == "no-store" and "-sha256" in got["ETag"]
    # boto3 computes CRC-32 by default, and compares what it reads.
    assert got["ChecksumCRC32"] == stored["ChecksumCRC32"]
    part = s3.get_object(Bucket="acme", Key="out/a b+ü.csv", Range="bytes=2-")
    assert part["Body"].read() == b"2,3" and part["ContentRange"] == "bytes 2-4/5"
    head = s3.head_object(Bucket="acme", Key="out/a b+ü.csv")
    assert head["ContentLength"] == 5
    refused("304", s3.get_object, Bucket="acme", Key="out/a b+ü.csv", IfNoneMatch=got["ETag"])
    refused("PreconditionFailed", s3.get_object, Bucket="acme", Key="out/a b+ü.csv", IfMatch='"x"')
    refused("InvalidRange", s3.get_object, Bucket="acme", Key="out/a b+ü.csv", Range="bytes=9-")
    refused("NoSuchKey", s3.get_object, Bucket="acme", Key="out/none")
    refused("NoSuchBucket", s3.put_object, Bucket="none", Key="a", Body=b"")
    refused("PreconditionFailed", s3.put_object, Bucket="acme", Key="out/a b+ü.csv", Body=b"x",
            IfNoneMatch="*")
    for key in ["../a", "a/../b", "a//b", "a/", "a\\b", "x" * 300, ".multipart/a"]:
        refused("InvalidArgument", s3.put_object, Bucket="acme", Key=key, Body=b"x")
    s3.put_object(Bucket="acme", Key="empty", Body=b"")
    assert s3.get_object(Bucket="acme", Key="empty")["Body"].read() == b""

    # Whatever algorithm a client chooses is compared, in the head or behind the body.
    for algorithm in ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"]:
        try:
            s3.put_object(Bucket="acme", Key="sums", Body=b"sum", ChecksumAlgorithm=algorithm)
        except Exception as error:
            # Two of them need a package that is not there by default.
            assert "botocore[crt]" in str(error), error
    refused("BadDigest", s3.put_object, Bucket="acme", Key="bad", Body=b"a", ChecksumCRC32="AAAAAA==")
    refused("BadDigest", s3.put_object, Bucket="acme", Key="bad", Body=b"a",
            ContentMD5="1B2M2Y8AsgTpgAmY7PhCfg==")
    refused("NoSuchKey", s3.get_object, Bucket="acme", Key="bad")

    s3.copy_object(Bucket="acme", Key="copy", CopySource={"Bucket": "acme", "Key": "out/a b+ü.csv"})
    copied = s3.get_object(Bucket="acme", Key="copy")
    assert copied["Body"].read() == b"1,2,3" and copied["Metadata"] == {"desk": "fx"}
    s3.copy_object(Bucket="acme", Key="copy", CopySource={"Bucket": "acme", "Key": "copy"},
                   MetadataDirective="REPLACE", Metadata={"new": "1"})
    assert s3.head_object(Bucket="acme", Key="copy")["Metadata"] == {"new": "1"}
    refused("InvalidRequest", s3.copy_object, Bucket="acme", Key="copy",
            CopySource={"Bucket": "acme", "Key": "copy"})

    # Links of boto3 are of signature version 2 unless it is told otherwise.
    v4 = boto3.client("s3", endpoint_url=s3.meta.endpoint_url,
                      config=Config(signature_version="s3v4"))
    link = v4.generate_presigned_url("get_object", Params={"Bucket": "acme", "Key": "copy"})
    assert urllib.request.urlopen(link).read() == b"1,2,3"
    link = v4.generate_presigned_url("put_object", Params={"Bucket": "acme", "Key": "linked"})
    urllib.request.urlopen(urllib.request.Request(link, data=b"by link", method="PUT"))
    assert s3.get_object(Bucket="acme", Key="linked")["Body"].read() == b"by link"

    s3.delete_object(Bucket="acme", Key="copy")
    s3.delete_object(Bucket="acme", Key="copy")
    refused("NoSuchKey", s3.get_object, Bucket="acme", Key="copy")
    gone = s3.delete_objects(
        Bucket="acme", Delete={"Objects": [{"Key": "linked"}, {"Key": "sums"}, {"Key": "none"}]})
    assert len(gone["Deleted"]) == 3 and "Errors" not in gone


def lists(s3):
    keys = [f"tree/{a}/{b:03}" for a in "abc" for b in range(40)] + ["tree/top", "tree/ü x"]
    for key in keys:
        s3.put_object(Bucket="acme", Key=key, Body=key.encode())
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket="acme", Prefix="tree/", PaginationConfig={"PageSize": 7})
    assert [it["Key"] for page in pages for it in page.get("Contents", [])] == sorted(keys)
    for lister, size in [("list_objects_v2", 2), ("list_objects", 2), ("list_objects_v2", 1000)]:
        pages = list(s3.get_paginator(lister).paginate(
            Bucket="acme", Prefix="tree/", Delimiter="/", PaginationConfig={"PageSize": size}))
        found = [it["Prefix"] for page in pages for it in page.get("CommonPrefixes", [])]
        assert found == ["tree/a/", "tree/b/", "tree/c/"], (lister, size, found)
        found = [it["Key"] for page in pages for it in page.get("Contents", [])]
        assert found == ["tree/top", "tree/ü x"], found
    after = s3.list_objects_v2(Bucket="acme", Prefix="tree/", StartAfter="tree/b/038")
    assert after["Contents"][0]["Key"] == "tree/b/039"
    after = s3.list_objects_v2(Bucket="acme", Prefix="tree/", Delimiter="/", StartAfter="tree/b/038")
    assert after["CommonPrefixes"][0]["Prefix"] == "tree/b/"
    assert s3.list_objects_v2(Bucket="acme", Prefix="none/")["KeyCount"] == 0
    assert s3.list_objects_v2(Bucket="acme", MaxKeys=0)["KeyCount"] == 0
    bucket = boto3.resource("s3", endpoint_url=s3.meta.endpoint_url).Bucket("acme")
    bucket.objects.filter(Prefix="tree/").delete()
    assert s3.list_objects_v2(Bucket="acme", Prefix="tree/")["KeyCount"] == 0


def parts(s3):
    body = content(23 << 20)
    pathlib.Path("large").write_bytes(body)
    s3.upload_file("large", "acme", "large", ExtraArgs={"Metadata": {"a": "b"}})
    s3.download_file("acme", "large", "large.back")
    assert pathlib.Path("large.back").read_bytes() == body
    assert s3.head_object(Bucket="acme", Key="large")["Metadata"] == {"a": "b"}

    upload = dict(Bucket="acme", Key="made")
    upload["UploadId"] = s3.create_multipart_upload(Bucket="acme", Key="made")["UploadId"]
    tags = [
        s3.upload_part(PartNumber=number, Body=content(size, number), **upload)["ETag"]
        for number, size in [(1, PART), (2, 100), (3, PART)]
    ]
    assert s3.list_multipart_uploads(Bucket="acme")["Uploads"][0]["Key"] == "made"
    listed = s3.list_parts(MaxParts=2, **upload)
    assert [it["PartNumber"] for it in listed["Parts"]] == [1, 2] and listed["IsTruncated"]

    def complete(numbers, tag=None):
        chosen = [{"PartNumber": it, "ETag": tag or tags[it - 1]} for it in numbers]
        return dict(MultipartUpload={"Parts": chosen}, **upload)

    refused("InvalidPartOrder", s3.complete_multipart_upload, **complete([3, 1]))
    refused("InvalidPartOrder", s3.complete_multipart_upload, **complete([1, 1]))
    refused("EntityTooSmall", s3.complete_multipart_upload, **complete([1, 2, 3]))
    refused("InvalidPart", s3.complete_multipart_upload, **complete([1], '"x"'))
    refused("InvalidArgument", s3.upload_part, PartNumber=10_001, Body=b"x", **upload)
    refused("NoSuchUpload", s3.upload_part, PartNumber=1, Body=b"x",
            **{**upload, "UploadId": "0" * 32})
    refused("NoSuchUpload", s3.list_parts, **{**upload, "Key": "other"})
    done = s3.complete_multipart_upload(**complete([1, 3]))
    # The answer was lost, and the client asks again.
    assert s3.complete_multipart_upload(**complete([1, 3]))["ETag"] == done["ETag"]
    made = s3.get_object(Bucket="acme", Key="made")["Body"].read()
    assert made == content(PART, 1) + content(PART, 3)
    refused("NoSuchUpload", s3.list_parts, **upload)

    upload["UploadId"] = s3.create_multipart_upload(Bucket="acme", Key="made")["UploadId"]
    s3.upload_part_copy(PartNumber=1, CopySource={"Bucket": "acme", "Key": "large"},
                        CopySourceRange="bytes=0-5242879", **upload)
    s3.abort_multipart_upload(**upload)
    refused("NoSuchUpload", s3.abort_multipart_upload, **upload)
    assert "Uploads" not in s3.list_multipart_uploads(Bucket="acme")


def begin(s3):
    upload = dict(Bucket="acme", Key="resumed")
    upload["UploadId"] = s3.create_multipart_upload(
        Bucket="acme", Key="resumed", ContentType="text/plain")["UploadId"]
    for number in [1, 2, 3]:
        s3.upload_part(PartNumber=number, Body=content(PART, number), **upload)
    STATE.write_text(json.dumps(upload))


def resume(s3):
    upload = json.loads(STATE.read_text())
    known = [dict(PartNumber=it["PartNumber"], ETag=it["ETag"])
             for it in s3.list_parts(**upload)["Parts"]]
    assert [it["PartNumber"] for it in known] == [1, 2, 3], known
    for number in [4, 5]:
        tag = s3.upload_part(PartNumber=number, Body=content(PART, number), **upload)["ETag"]
        known.append(dict(PartNumber=number, ETag=tag))
    s3.complete_multipart_upload(MultipartUpload={"Parts": known}, **upload)
    got = s3.get_object(Bucket="acme", Key="resumed")
    assert got["ContentType"] == "text/plain"
    assert got["Body"].read() == b"".join(content(PART, it) for it in range(1, 6))


def end(s3):
    refused("BucketNotEmpty", s3.delete_bucket, Bucket="acme")
    boto3.resource("s3", endpoint_url=s3.meta.endpoint_url).Bucket("acme").objects.all().delete()
    s3.delete_bucket(Bucket="acme")
    refused("404", s3.head_bucket, Bucket="acme")


def main():
    phase, endpoint = sys.argv[1:]
    globals()[phase](boto3.client("s3", endpoint_url=endpoint))


if __name__ == "__main__":
    main()
