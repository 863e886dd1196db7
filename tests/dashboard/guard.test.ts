import { expect, test } from "@jest/globals";
import { proxiedUser } from "../../src/dashboard/guard.ts";
import { networksOf } from "../../src/shared/http/network-address.ts";

const IDENTITY = {
  kind: "proxy",
  addresses: networksOf(["10.0.0.1"]),
  userHeader: "X-User",
} as const;
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
