/** coderd refuses a request, with the HTTP status of the answer. */
export class CoderdRefusal extends Error {
  override readonly name = 'CoderdRefusal';
  readonly status: number;
  /** The field of the request that coderd names in `validations`. */
  readonly field: string | undefined;

  constructor(status: number, message: string, field?: string) {
    super(message);
    this.status = status;
    this.field = field;
  }
}
