import { expect, test } from "@jest/globals";
import { BadFrame, parseStartup } from "../../src/embedded/wire-protocol.ts";

const PROTOCOL_3 = 196_608;

function packet(parameters: Readonly<Record<string, string>>, version = PROTOCOL_3): Buffer {
  const words = Object.entries(parameters).flatMap(([name, value]) => [name, value]);
  const body = Buffer.from(words.map((word) => `${word}\0`).join("") + "\0");
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length, 0);
  head.writeUInt32BE(version, 4);
  return Buffer.concat([head, body]);
}

test("a connection is of the one user to the one database, by protocol 3", () => {
  expect(parseStartup(packet({ user: "postgres" }))).toMatchObject({ kind: "session", minor: 0 });
  const named = { user: "postgres", database: "postgres", application_name: "x", "_pq_.y": "1" };
  expect(parseStartup(packet(named))).toMatchObject({
    ...{ kind: "session", protocolOptions: ["_pq_.y"] },
  });
});

test.each([
  ["28000", packet({})],
  ["28000", packet({ user: "root", database: "postgres" })],
  ["3D000", packet({ user: "postgres", database: "template1" })],
  ["0A000", packet({ user: "postgres" }, 2 << 16)],
  // They would hold for all who share the session.
  ["0A000", packet({ user: "postgres", options: "-c search_path=x" })],
  ["0A000", packet({ user: "postgres", search_path: "x" })],
  ["0A000", packet({ user: "postgres", default_transaction_read_only: "on" })],
  ["0A000", packet({ user: "postgres", replication: "true" })],
])("anything else is refused with %s", (code, bytes) => {
  expect(parseStartup(bytes)).toMatchObject({
    kind: "refused",
    error: { severity: "FATAL", code },
  });
});

test("what has no version is no startup", () => {
  expect(() => parseStartup(Buffer.alloc(6))).toThrow(BadFrame);
});
