import { createServer, request } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { expect, test } from "@jest/globals";
import { Refused } from "../../src/serve/failures.ts";
import { withUpload } from "../../src/serve/receive-upload.ts";

const FORM = "multipart/form-data; boundary=x";

test("an upload that stalls is 408, gives its turn to others and leaves nothing", async () => {
  const ended: unknown[] = [];
  const server = createServer((incoming, outgoing) => {
    void withUpload(incoming, { mostBytes: 1_000, stalledMs: 300 }, async ({ bytes }) => bytes)
      .catch((error: unknown) => (error instanceof Refused ? error.failure.status : error))
      .then((end) => {
        ended.push(end);
        outgoing.end();
      });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const send = (text: string) => {
    const sent = request({ port, method: "POST", headers: { "content-type": FORM } });
    sent.on("error", () => undefined);
    sent.write(`--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n${text}`);
    return sent;
  };
  const stalled = send("ab");
  await once(stalled, "response");
  // Slow is not stalled.
  const slow = send("a");
  for (const piece of ["b", "c", "d\r\n--x--\r\n"]) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    slow.write(piece);
  }
  slow.end();
  await once(slow, "response");
  expect(ended).toEqual([408, 4]);
  expect((await readdir(tmpdir())).filter((name) => name.startsWith("nightdesk-upload-"))).toEqual(
    [],
  );
  server.closeAllConnections();
  server.close();
});
