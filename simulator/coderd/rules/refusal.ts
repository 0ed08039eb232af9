/** coderd refuses a request, with the HTTP status of the answer. */
export class CoderdRefusal extends Error {
  override readonly name = 'CoderdRefusal';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
