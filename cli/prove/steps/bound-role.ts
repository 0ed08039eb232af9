/**
 * Whether a task with a bound role can protect a task with another pool's tag: a short build asks for it, with the
 * role of its task. IAM's simulation proves nothing here, as it takes the tags from the caller.
 */
import { TagResourceCommand } from '@aws-sdk/client-ecs';
import type { TaskArn } from '../../../lambda/decision/model/brands.ts';
import { POOL_TAG } from '../../../lambda/decision/model/service-tags.ts';
import type { Task } from '../../../lambda/decision/model/snapshot.ts';
import { displayTags } from '../../../lambda/decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { provisionerOf } from '../../../lambda/decision/supply/rows/daemons.ts';
import { ROLE_REFUSED } from '../../../lambda/decision/supply/starts.ts';
import { some } from '../../../lambda/explain/format.ts';
import type { Bench } from '../bench/bench.ts';
import { pushBuild } from '../bench/build.ts';
import type { Seen } from '../bench/fate.ts';

/** What the build prints: `autoscaler-prove:denied`, `:allowed`, `:both` or `:unknown`. No space, so it is on one line. */
const VERDICT = /autoscaler-prove:(\w+)/;

/** Both tasks have a lease, which they took with this role. */
export async function noteBoundRole(bench: Bench, tasks: readonly Seen[]): Promise<void> {
  const [target, own] = tasks;
  const note = (isOk: boolean | undefined, measured: string) => bench.note('bound-role', isOk, measured);
  if (target === undefined || own === undefined || !tasks.every(({ leaseMs = 0 }) => leaseMs > 47 * HOUR_MS))
    return note(undefined, 'not all tasks have a lease of 48 h');
  const { name } = bench.place.pool;
  await bench.change({
    make: () => tag(bench, target, `${name}-other`),
    undo: () => tag(bench, target, name),
    left: `task ${target.taskArn} has the tag ${POOL_TAG}=${name}-other. It goes with the task`,
  });
  const verdict = await askFromTask(bench, { other: target.taskArn, own: own.taskArn });
  await tag(bench, target, name);
  if (verdict === 'denied')
    return note(true, 'both tasks took a lease; AccessDenied for the other tag, and not for their own');
  // a policy of the organization may deny all that does not come through ECS's agent
  if (verdict === 'both') return note(undefined, 'AccessDenied for the other tag, and for their own too');
  if (verdict === 'allowed') return note(false, 'a task could protect one with the tag of another pool');
  note(undefined, `the build did not tell what AWS answered (${verdict})`);
}

/** Once no two tasks have started: whether AWS refused their role the leases. */
export function noteRefusedRole(bench: Bench, tasks: readonly Task[]): void {
  const refused = tasks.filter((task) => provisionerOf(task)?.exitCode === ROLE_REFUSED).length;
  if (!bench.place.isBound || refused === 0) return;
  bench.note('bound-role', false, `AWS refused ${some(refused, 'task')} the protection of the task itself`);
}

async function tag(bench: Bench, { taskArn }: Seen, value: string): Promise<void> {
  const tags = [{ key: POOL_TAG, value }];
  await bench.place.client.send(new TagResourceCommand({ resourceArn: taskArn, tags }));
}

async function askFromTask(bench: Bench, targets: Targets): Promise<string> {
  const { pool, organization, coderd, ecs } = bench.place;
  const files = { 'main.tf': TEMPLATE, 'ask.sh': askScript(targets, ecs.cluster) };
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

/** A task with another pool's tag, and one with the tag of this pool. */
type Targets = { readonly other: TaskArn; readonly own: TaskArn };

/**
 * Signs with curl 7.75 or later. The credentials are in no argument. It fails, so that Terraform shows what it
 * prints. It asks for 48 h of protection, and never removes any.
 */
export function askScript({ other, own }: Targets, cluster: string): string {
  const [, partition = '', , region = ''] = other.split(':');
  const url = `https://ecs.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}/`;
  const bodyOf = (task: TaskArn): string =>
    JSON.stringify({ cluster, tasks: [task], protectionEnabled: true, expiresInMinutes: 2880 });
  return `said=unknown
field() { printf %s "$keys" | tr -d '\\n' | sed -n 's/.*"'"$1"'" *: *"\\([^"]*\\)".*/\\1/p'; }
ask() {
  keys=$(curl -q -s --noproxy '*' --max-time 5 "http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
  printf 'user = "%s:%s"\\nheader = "x-amz-security-token: %s"\\n' \\
    "$(field AccessKeyId)" "$(field SecretAccessKey)" "$(field Token)" |
    curl -q -s --max-time 10 -K - --aws-sigv4 aws:amz:${region}:ecs -H 'content-type: application/x-amz-json-1.1' \\
      -H 'x-amz-target: AmazonEC2ContainerServiceV20141113.UpdateTaskProtection' -d "$1" ${url}
}
n=0
while [ "$n" -lt ${TRIES} ]; do
  case $(ask '${bodyOf(other)}') in
    *AccessDenied*) said=denied && break ;;
    *'"protectedTasks"'*) said=allowed ;;
  esac
  n=$((n + 1))
  sleep ${EVERY_S}
done
[ "$said" != denied ] || case $(ask '${bodyOf(own)}') in
  *AccessDenied*) said=both ;;
  *'"protectedTasks"'*) ;;
  *) said=unknown ;;
esac
echo "autoscaler-prove:$said" >&2
exit 1
`;
}
