import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

const encode = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9._~-]/.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
const respell = (text: string): string => encode(decodeURIComponent(text));

/**
 * Whether a request of S3 has the signature that its secret gives, by Amazon's "Signature Version 4", of what came over the
 * line. It shares no code with what signs.
 */
export function isSigned({ method, url, headers }: IncomingMessage, secret: string): boolean {
  const [, day = "", region = "", names = "", signature = ""] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    ) ?? [];
  const [path = "", query = ""] = (url ?? "").split("?");
  const pairs = query
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => pair.split("=").map(respell).join("="));
  const canonical = [
    method,
    path.split("/").map(respell).join("/"),
    pairs.sort().join("&"),
    ...names.split(";").map((name) => `${name}:${String(headers[name]).trim()}`),
    "",
    names,
    headers["x-amz-content-sha256"],
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = [
    ...["AWS4-HMAC-SHA256", headers["x-amz-date"], scope],
    createHash("sha256").update(canonical).digest("hex"),
  ].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (above, part) => createHmac("sha256", above).update(part).digest(),
    `AWS4${secret}`,
  );
  const isComplete = ["host", "x-amz-content-sha256", "x-amz-date"].every((name) =>
    names.split(";").includes(name),
  );
  return isComplete && createHmac("sha256", key).update(text).digest("hex") === signature;
}
