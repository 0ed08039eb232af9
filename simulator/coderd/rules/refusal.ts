/** coderd's answer to a request that it refuses, with the HTTP status it would have. */
export class CoderdRefusal extends Error {
  override readonly name = 'CoderdRefusal';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
