/** AWS's runtime client with the bundled function, in a process like Lambda's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const CLIENT = fileURLToPath(new URL('node_modules/aws-lambda-ric/index.mjs', import.meta.url));

export type ClientOptions = {
  /** The folder with the bundle. */
  readonly taskRoot: string;
  readonly runtimeApi: string;
  readonly environment: Readonly<Record<string, string>>;
};

/** A running client. It keeps its output, which is the function's log. */
export type RuntimeClient = {
  readonly output: () => string;
  /** Rejects when the process ends by itself. */
  readonly died: Promise<never>;
  readonly stop: () => void;
};

/** Starts the client with only this environment, without this machine's AWS settings. */
export function startClient({ taskRoot, runtimeApi, environment }: ClientOptions): RuntimeClient {
  if (!existsSync(CLIENT))
    throw new Error(
      'starting the runtime client: aws-lambda-ric is not installed; run npm ci in test/lambda-runtime/',
    );
  const child = spawn(process.execPath, [CLIENT], {
    cwd: taskRoot,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...lambdaEnvironment(taskRoot, runtimeApi), ...environment },
  });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  const died = diedOf(child);
  died.catch(() => {});
  return { output: () => Buffer.concat(chunks).toString(), died, stop: () => void child.kill('SIGKILL') };
}

function diedOf(child: ChildProcess): Promise<never> {
  return new Promise((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`running the runtime client: its process ended with ${code ?? signal}`)),
    );
  });
}

/** The variables that Lambda sets for a function of nodejs24.x. */
function lambdaEnvironment(taskRoot: string, runtimeApi: string): Record<string, string> {
  return {
    _HANDLER: 'index.handler',
    LAMBDA_TASK_ROOT: taskRoot,
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: 'autoscaler',
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
    AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/autoscaler',
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    TZ: ':UTC',
  };
}
