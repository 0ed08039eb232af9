/**
 * Whether a task with a bound role can protect a task with another pool's tag: a short build asks for it, with the
 * role of its task. IAM's simulation proves nothing here, as it takes the tags from the caller.
 */
import { TagResourceCommand } from '@aws-sdk/client-ecs';
import type { TaskArn } from '../../../lambda/decision/model/brands.ts';
import { POOL_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { displayTags } from '../../../lambda/decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import type { Bench } from '../bench/bench.ts';
import { pushBuild } from '../bench/build.ts';
import type { Seen } from '../bench/fate.ts';

/** What the build prints: `autoscaler-prove:denied`, `:allowed` or `:unknown`. No space, so it is on one line. */
const VERDICT = /autoscaler-prove:(\w+)/;

/** Both tasks have a lease, which they took with this role. */
export async function noteBoundRole(bench: Bench, tasks: readonly Seen[]): Promise<void> {
  const [target] = tasks;
  const note = (isOk: boolean | undefined, measured: string) => bench.note('bound-role', isOk, measured);
  if (target === undefined || !tasks.every(({ leaseMs = 0 }) => leaseMs > 47 * HOUR_MS))
    return note(undefined, 'not all tasks have a lease of 48 h');
  const { name } = bench.place.pool;
  await bench.change({
    make: () => tag(bench, target, `${name}-other`),
    undo: () => tag(bench, target, name),
    left: `task ${target.taskArn} has the tag ${POOL_TAG}=${name}-other. It goes with the task`,
  });
  const verdict = await askFromTask(bench, target.taskArn);
  await tag(bench, target, name);
  if (verdict === 'denied') return note(true, 'both tasks took a lease; AccessDenied for the other tag');
  if (verdict === 'allowed') return note(false, 'a task could protect one with the tag of another pool');
  note(undefined, `the build did not tell what AWS answered (${verdict})`);
}

async function tag(bench: Bench, { taskArn }: Seen, value: string): Promise<void> {
  const tags = [{ key: POOL_TAG, value }];
  await bench.place.client.send(new TagResourceCommand({ resourceArn: taskArn, tags }));
}

async function askFromTask(bench: Bench, target: TaskArn): Promise<string> {
  const { pool, organization, coderd, ecs } = bench.place;
  const files = { 'main.tf': TEMPLATE, 'ask.sh': askScript(target, ecs.cluster) };
  const tags = displayTags(pool.tags);
  const build = await pushBuild(coderd, { organization: organization.id, tags, files });
  const left = `the build of version ${build.id} may still run. It ends by itself within 2 min`;
  bench.willUndo({ undo: build.cancel, left });
  const job = await bench.wait(4 * MINUTE_MS, async () => {
    const read = await build.read();
    return read.completed_at ? read : undefined;
  });
  if (job === undefined) return 'it did not end within 4 min';
  const line = (await build.log()).find((output) => VERDICT.test(output)) ?? '';
  return VERDICT.exec(line)?.[1] ?? (job.error || job.status);
}

const TEMPLATE = `terraform {
  required_providers {
    external = { source = "hashicorp/external" }
  }
}

data "external" "ask" {
  program = ["sh", "\${path.module}/ask.sh"]
}
`;

/** Tags of a task may reach IAM later. */
const TRIES = 12;
const EVERY_S = (5 * SECOND_MS) / 1000;

/**
 * Signs with curl 7.75 or later. The credentials are in no argument. It fails, so that Terraform shows what it
 * prints. It asks for 48 h of protection, and never removes any.
 */
export function askScript(task: TaskArn, cluster: string): string {
  const [, partition = '', , region = ''] = task.split(':');
  const url = `https://ecs.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}/`;
  const body = { cluster, tasks: [task], protectionEnabled: true, expiresInMinutes: 2880 };
  return `said=unknown
field() { printf %s "$keys" | tr -d '\\n' | sed -n 's/.*"'"$1"'" *: *"\\([^"]*\\)".*/\\1/p'; }
ask() {
  keys=$(curl -q -s --noproxy '*' --max-time 5 "http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
  printf 'user = "%s:%s"\\nheader = "x-amz-security-token: %s"\\n' \\
    "$(field AccessKeyId)" "$(field SecretAccessKey)" "$(field Token)" |
    curl -q -s --max-time 10 -K - --aws-sigv4 aws:amz:${region}:ecs -H 'content-type: application/x-amz-json-1.1' \\
      -H 'x-amz-target: AmazonEC2ContainerServiceV20141113.UpdateTaskProtection' -d '${JSON.stringify(body)}' ${url}
}
n=0
while [ "$n" -lt ${TRIES} ]; do
  case $(ask) in
    *AccessDenied*) said=denied && break ;;
    *'"protectedTasks"'*) said=allowed ;;
  esac
  n=$((n + 1))
  sleep ${EVERY_S}
done
echo "autoscaler-prove:$said" >&2
exit 1
`;
}
