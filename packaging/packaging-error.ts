/** A package cannot be written or does not work. The message says what to do. */
export class PackagingError extends Error {
  override readonly name = 'PackagingError';
}

/** Runs `main`. Prints the message of a PackagingError and sets the exit code 1. */
export function runMain(main: () => void): void {
  try {
    main();
  } catch (error) {
    if (!(error instanceof PackagingError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
