/** Not a lock file that Terraform accepts. The message says where and why. */
export class LockFileError extends Error {
  override readonly name = 'LockFileError';
}
