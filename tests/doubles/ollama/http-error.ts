/** A reply with a status and the error shape of the host, thrown by a route. */
export class HttpError extends Error {
  readonly status: number;
  /** What stands beside the words, where the shape has room for it. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, message: string, details: HttpError["details"] = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}
