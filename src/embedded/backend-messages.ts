/** Idle, in a transaction, or in one that failed: what ReadyForQuery says. */
export type TransactionStatus = "I" | "T" | "E";

export type ErrorFields = {
  readonly severity: "ERROR" | "FATAL";
  /** SQLSTATE. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
};

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const text = (value: string): Buffer => Buffer.from(`${value}\0`);

/** Any message: its type letter, and its body. */
export const message = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};

export const query = (sql: string): Buffer => message("Q", text(sql));
export const SYNC: Buffer = message("S");

export const authenticationOk: Buffer = message("R", int32(0));

export const parameterStatus = (name: string, value: string): Buffer =>
  message("S", text(name), text(value));

export const backendKeyData = (pid: number, secret: number): Buffer =>
  message("K", int32(pid), int32(secret));

export const readyForQuery = (status: TransactionStatus): Buffer =>
  message("Z", Buffer.from(status));

export const commandComplete = (tag: string): Buffer => message("C", text(tag));

/** Says that no protocol above 3.0 and none of these options is known. */
export const negotiateVersion = (options: readonly string[]): Buffer =>
  message("v", int32(0), int32(options.length), ...options.map(text));

export const errorResponse = ({ severity, code, message: what, hint }: ErrorFields): Buffer =>
  message(
    "E",
    text(`S${severity}`),
    text(`V${severity}`),
    text(`C${code}`),
    text(`M${what}`),
    ...(hint === undefined ? [] : [text(`H${hint}`)]),
    Buffer.of(0),
  );
