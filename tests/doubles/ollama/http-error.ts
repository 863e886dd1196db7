/** A reply with a status and Ollama's error shape, thrown by a route. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
