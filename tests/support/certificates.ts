import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { isIPv4 } from "node:net";

/** A certificate with its key, both in PEM. */
export type Certificate = { readonly cert: string; readonly key: string };

export type Authority = Certificate & {
  /** @param names DNS names and IPv4 addresses that it is for */
  issue(names: readonly string[], validity?: Validity): Certificate;
};

type Validity = { readonly from: Date; readonly until: Date };

const DAY_MS = 86_400_000;
const inDays = (days: number): Date => new Date(Date.now() + days * DAY_MS);
const NOW: Validity = { from: inDays(-1), until: inDays(30) };
export const EXPIRED: Validity = { from: inDays(-30), until: inDays(-1) };
export const NOT_YET_VALID: Validity = { from: inDays(2), until: inDays(30) };

/** Signs certificates of X.509 (RFC 5280) with keys of P-256, none of which outlives the test. */
export function createAuthority(name = "Authority of a test"): Authority {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = { name, key: own.privateKey };
  const cert = certificate({
    ...{ subject: name, publicKey: own.publicKey, validity: NOW, issuer },
    extensions: [extension([0x55, 0x1d, 0x13], sequence(BOOLEAN_TRUE), "critical")],
  });
  return {
    cert,
    key: pemOf(own.privateKey),
    issue(names, validity = NOW) {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const extensions = [extension([0x55, 0x1d, 0x11], sequence(...names.map(alternativeName)))];
      const issued = certificate({ subject: "host", publicKey, validity, issuer, extensions });
      return { cert: issued, key: pemOf(privateKey) };
    },
  };
}

type Contents = {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly validity: Validity;
  readonly issuer: { readonly name: string; readonly key: KeyObject };
  readonly extensions: readonly Buffer[];
};

function certificate({ subject, publicKey, validity, issuer, extensions }: Contents): string {
  const signed = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    nameOf(issuer.name),
    sequence(time(validity.from), time(validity.until)),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", signed, issuer.key);
  const der = sequence(signed, ECDSA_WITH_SHA256, bits(signature));
  return `-----BEGIN CERTIFICATE-----\n${(der.toString("base64").match(/.{1,64}/g) ?? []).join("\n")}\n-----END CERTIFICATE-----\n`;
}

const pemOf = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }) as string;

// DER (X.690): a tag, the length of what follows, and what follows.
function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, ...parts);
const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes);
const bits = (bytes: Buffer): Buffer => tagged(0x03, Buffer.from([0]), bytes);
const octets = (bytes: Buffer): Buffer => tagged(0x04, bytes);
const objectId = (bytes: readonly number[]): Buffer => tagged(0x06, Buffer.from(bytes));
const BOOLEAN_TRUE = tagged(0x01, Buffer.from([0xff]));
const ECDSA_WITH_SHA256 = sequence(objectId([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));

const nameOf = (commonName: string): Buffer =>
  sequence(
    tagged(0x31, sequence(objectId([0x55, 0x04, 0x03]), tagged(0x0c, Buffer.from(commonName)))),
  );

/** GeneralizedTime: years in four digits. */
const time = (date: Date): Buffer =>
  tagged(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+Z/g, "")}Z`));

const extension = (id: readonly number[], value: Buffer, weight?: "critical"): Buffer =>
  sequence(objectId(id), ...(weight === undefined ? [] : [BOOLEAN_TRUE]), octets(value));

const alternativeName = (name: string): Buffer =>
  isIPv4(name)
    ? tagged(0x87, Buffer.from(name.split(".").map(Number)))
    : tagged(0x82, Buffer.from(name));
