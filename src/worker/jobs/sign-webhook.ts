import { createHmac } from "node:crypto";

type WebhookEvent = {
  /** The same for each delivery of the event. */
  readonly id: string;
  readonly body: string;
  /** `whsec_` and the key in base64, as the configuration has it. */
  readonly secret: string;
  readonly now: Date;
};

/**
 * The headers of Standard Webhooks (version 1, symmetric): the HMAC-SHA256 of `id.timestamp.body`, in base64. The id has no
 * period, because the period separates the parts.
 */
export function signatureHeaders({
  id,
  body,
  secret,
  now,
}: WebhookEvent): Readonly<Record<string, string>> {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const plainId = id.replaceAll(/[^\w-]/g, "-");
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const signature = createHmac("sha256", key)
    .update(`${plainId}.${timestamp}.${body}`)
    .digest("base64");
  return {
    "webhook-id": plainId,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}
