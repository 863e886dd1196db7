import { expect, test } from "@jest/globals";
import type { Exposure } from "../../src/dashboard/exposure.ts";
import { assertOrigin, proxiedUser } from "../../src/dashboard/guard.ts";
import { networksOf } from "../../src/shared/http/network-address.ts";

const IDENTITY = {
  kind: "proxy",
  addresses: networksOf(["10.0.0.1"]),
  userHeader: "X-User",
} as const;
const EXPOSURE: Exposure = {
  ...{ host: "desk", port: 8_787, isLoopback: false, tls: null, identity: { kind: "local" } },
  hostNames: new Set(["desk"]),
};
const ask = (address: string, user: string | undefined) =>
  proxiedUser(
    { method: "GET", address, header: (name) => (name === "x-user" ? user : undefined) },
    IDENTITY,
  );

test("who a proxy names is asking, and nobody whom somebody else names", () => {
  expect(ask("10.0.0.1", " ada ")).toBe("ada");
  for (const [address, user] of [
    ["10.0.0.2", "ada"],
    ["10.0.0.1", " "],
    ["10.0.0.1", undefined],
  ] as const) {
    expect(() => ask(address, user)).toThrow(/reached through a proxy alone/);
  }
});

test("every method that changes needs our origin, to the letter", () => {
  const asks = (method: string, origin?: string) => () => {
    const headers = new Map<string, string>([
      ["host", "desk:8787"],
      ...(origin === undefined ? [] : [["origin", origin] as const]),
    ]);
    assertOrigin({ method, address: "127.0.0.1", header: (name) => headers.get(name) }, EXPOSURE);
  };
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    expect(asks(method, "http://desk:8787")).not.toThrow();
    for (const origin of [undefined, "null", "http://desk:8787.evil.example", "http://desk:87870"])
      expect(asks(method, origin)).toThrow(/Origin is missing, or another/);
  }
  expect(asks("GET")).not.toThrow();
});
