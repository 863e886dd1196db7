import { describe, expect, test } from "@jest/globals";
import {
  addressOfHost,
  isNetwork,
  networkKindOf,
  networksOf,
} from "../../../src/shared/http/network-address.ts";

describe("the network of an address", () => {
  test.each([
    ["loopback", ["127.0.0.1", "127.255.0.9", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"]],
    ["link-local", ["169.254.169.254", "fe80::1", "fe80::1%eth0", "::ffff:a9fe:a9fe", "febf::"]],
    ["private", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"]],
    ["private", ["fc00::1", "fd12:3456::1", "fec0::1", "64:ff9b::10.0.0.1", "::ffff:0:10.0.0.1"]],
    ["multicast", ["224.0.0.1", "239.255.255.255", "ff02::1"]],
    ["reserved", ["0.0.0.0", "::", "255.255.255.255", "240.0.0.1", "192.0.2.1", "198.18.0.1"]],
    [
      "reserved",
      ["2001:db8::1", "2002:7f00:1::", "2001::1", "64:ff9b:1::1", "1::1", "not one", ""],
    ],
    ["public", ["8.8.8.8", "172.32.0.1", "100.128.0.1", "169.253.0.1", "1.1.1.1", "223.255.255.1"]],
    ["public", ["2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]],
  ])("is %s for %j", (kind, addresses) => {
    expect(addresses.map((address) => [address, networkKindOf(address)])).toEqual(
      addresses.map((address) => [address, kind]),
    );
  });
});

test("a list of networks holds addresses and ranges of both families, in any spelling", () => {
  const networks = networksOf(["127.0.0.1", "192.168.0.0/16", "fd00::/8"]);
  const inside = ["127.0.0.1", "::ffff:127.0.0.1", "192.168.7.7", "fd01::1", "fd01::1%eth0"];
  const outside = ["127.0.0.2", "192.169.0.1", "fc01::1", "::1", "name", ""];
  expect(inside.map((address) => networks.has(address))).toEqual(inside.map(() => true));
  expect(outside.map((address) => networks.has(address))).toEqual(outside.map(() => false));
});

test("a network is an address with, or without, the number of its leading bits", () => {
  const valid = ["127.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "::1", "fd00::/8", "::/128"];
  const invalid = [
    "",
    "10",
    "10.0.0.0/33",
    "::/129",
    "1.2.3.4/",
    "1.2.3.4/8/8",
    "1.2.3.4/-1",
    "h/8",
  ];
  expect(valid.filter((text) => !isNetwork(text))).toEqual([]);
  expect(invalid.filter(isNetwork)).toEqual([]);
});

test.each([
  ["http://2130706433/", "127.0.0.1"],
  ["http://0x7f.1/", "127.0.0.1"],
  ["http://[::1]:80/", "::1"],
  ["http://localhost/", "127.0.0.1"],
  ["http://api.localhost./", "127.0.0.1"],
  ["http://hooks.example.com/", undefined],
])("the host of %s is %s", (url, address) => {
  expect(addressOfHost(new URL(url).hostname)).toBe(address);
});
