import {
  type ContainerDefinition,
  ContainerDependencyCondition,
  ContainerImage,
  type FargateTaskDefinition,
  type LogDriver,
} from 'aws-cdk-lib/aws-ecs';

/** Where a provisioner whose root file system is read-only writes: coder's cache and Terraform's files, and each job's working directory. */
const FOLDERS: Readonly<Record<string, string>> = { home: '/home/coder', tmp: '/tmp' };

export type WritableFoldersProps = {
  readonly provisioner: ContainerDefinition;
  readonly image: string;
  /** `1000:1000`: who writes. */
  readonly owner: string;
  readonly logging: LogDriver;
};

/**
 * Gives a container volumes on the task's ephemeral storage. ECS makes them for root unless the image declares them, and coder's
 * doesn't; so a second container, of the same image, hands them over and ends before the provisioner starts. In memory (tmpfs)
 * they would take from Terraform what its providers weigh.
 */
export function addWritableFolders(
  definition: FargateTaskDefinition,
  { provisioner, image, owner, logging }: WritableFoldersProps,
): void {
  const handover = definition.addContainer('folders', {
    image: ContainerImage.fromRegistry(image),
    essential: false,
    user: '0',
    readonlyRootFilesystem: true,
    entryPoint: ['chown'],
    command: [owner, ...Object.values(FOLDERS)],
    logging,
  });
  for (const [name, containerPath] of Object.entries(FOLDERS)) {
    definition.addVolume({ name });
    for (const container of [provisioner, handover])
      container.addMountPoints({ sourceVolume: name, containerPath, readOnly: false });
  }
  provisioner.addContainerDependencies({
    container: handover,
    condition: ContainerDependencyCondition.SUCCESS,
  });
}
