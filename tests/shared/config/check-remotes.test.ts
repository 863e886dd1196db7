import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  assertValidSchedule,
  configuredSchedules,
} from "../../../src/shared/schedules/schedule.ts";
import { makeScratch, packageRoot } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

let scratch: Scratch;
beforeAll(async () => {
  scratch = await makeScratch();
});
afterAll(() => scratch.remove());

const writeSource = (source: string) =>
  scratch.write(
    "nightdesk.yaml",
    `extends: ${packageRoot}/configs/embedded.yaml\nindex: { sources: [{ name: letters, root: allowed/letters, ${source} }] }\n`,
  );

const write = (from: string, remote: string) => writeSource(`from: ${from}, remote: ${remote}`);

test.each([
  "{ url: 'https://s3.example.net/bucket', user: AKIA, secret_env: SECRET }",
  "{ url: 'https://bucket.s3.example.net', bucket: bucket, region: eu-central-1 }",
])("a bucket is named by its path or by its host: %s", async (remote) => {
  await write("s3", remote);
  const { index } = await scratch.load();
  expect(index.sources[0]?.from).toBe("s3");
});

test.each([
  ["s3", "{ url: 'https://s3.example.net' }", "names no bucket"],
  ["s3", "{ url: 'http://s3.example.net/bucket' }", "without TLS"],
  ["s3", "{ url: 's3://bucket/prefix' }", "expected https://host"],
  ["s3", "{ url: 'https://h.net/b?versionId=1' }", "a query"],
  ["s3", "{ url: 'https://h.net/b', user: AKIA }", "one of secret_env and secret_file"],
  ["s3", "{ url: 'https://h.net/b', user: 'A KIA', secret_env: S }", "no id of an access key"],
  ["s3", "{ url: 'https://h.net/b', region: 'eu central' }", "a region, like eu-central-1"],
  ["s3", "{ url: 'https://h.net', bucket: 'b/c' }", "the name of a bucket"],
  ["s3", "{ url: 'https://h.net/b', folders: [a] }", "is for from: imap"],
  ["webdav", "{ url: 'https://h.net/b', region: eu }", "is for from: s3 alone"],
  ["imap", "{ url: 'imaps://h.net', bucket: b }", "is for from: s3 alone"],
  ["s3", "{ url: 'https://169.254.169.254/b' }", "allowed_networks"],
])("%s with %s is refused: %s", async (from, remote, words) => {
  await write(from, remote);
  await expect(scratch.loadError()).resolves.toContain(words);
});

test.each([
  ["{ url: 'https://p.example', user: me, secret_env: TOKEN }", "needs one of secret_env"],
  ["{ url: 'https://p.example' }", "needs one of secret_env"],
  ["{ url: 'http://p.example', secret_env: TOKEN }", "is without TLS"],
  ["{ url: 'https://me:secret@p.example', secret_env: TOKEN }", "holds a user"],
  ["{ url: 'https://p.example', secret_env: TOKEN, folders: [a] }", "is for from: imap"],
])("a source of paperless-ngx does not take %s", async (remote, problem) => {
  await writeSource(`from: paperless, remote: ${remote}`);
  await expect(scratch.loadError()).resolves.toContain(problem);
});

test("nothing is written back to a place that can't be written to", async () => {
  await writeSource("from: webdav, remote: { url: 'https://p.example' }, write_back: {}");
  await expect(scratch.loadError()).resolves.toContain("write_back");
});

test("two fields are not written to one custom field", async () => {
  const place = "from: paperless, remote: { url: 'https://p.example', secret_file: token }";
  const fields = (...names: readonly string[]) =>
    `${place}, write_back: { custom_fields: { amount: ${names[0]}, total: ${names[1]} } }`;
  await writeSource(fields("Amount", "amount"));
  await expect(scratch.loadError()).resolves.toContain('names "amount" of two fields');
  await writeSource(fields("Amount", "Total"));
  await expect(scratch.load()).resolves.toBeDefined();
});

test("the example of letters holds, with its schedules", async () => {
  const config = await scratch.load({
    flags: { config: `${packageRoot}/examples/paperless.yaml` },
  });
  expect(config.index.sources[0]).toMatchObject({
    write_back: {
      correspondent: "correspondent",
      document_type: "type",
      tags: "tags",
      create: true,
    },
  });
  for (const entry of configuredSchedules(config))
    expect(() => {
      assertValidSchedule(entry);
    }).not.toThrow();
});

test("a source of paperless-ngx needs an address and a token", async () => {
  await writeSource(
    "from: paperless, remote: { url: 'https://p.example/sub/', secret_file: token }",
  );
  await expect(scratch.load()).resolves.toMatchObject({
    index: { sources: [{ from: "paperless", remote: { secret_file: "token", max_mb: 20_000 } }] },
  });
});
