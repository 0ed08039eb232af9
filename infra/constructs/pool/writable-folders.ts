import {
  type ContainerDefinition,
  ContainerDependencyCondition,
  ContainerImage,
  type FargateTaskDefinition,
  type LogDriver,
} from 'aws-cdk-lib/aws-ecs';

/**
 * The folders that a provisioner writes to: coder's cache, Terraform's files, and each job's
 * working directory.
 */
const FOLDERS: Readonly<Record<string, string>> = { home: '/home/coder', tmp: '/tmp' };

export type WritableFoldersProps = {
  readonly provisioner: ContainerDefinition;
  readonly image: string;
  /** User and group of the provisioner, such as `1000:1000`. */
  readonly owner: string;
  readonly logging: LogDriver;
};

/**
 * Adds writable volumes on the task's ephemeral storage to a container. They belong to root unless
 * the image declares them, and coder's image does not. So a second container with the same image
 * changes their owner and exits before the provisioner starts. A tmpfs would take the memory that
 * Terraform's providers need.
 */
export function addWritableFolders(
  definition: FargateTaskDefinition,
  { provisioner, image, owner, logging }: WritableFoldersProps,
): void {
  const chownContainer = definition.addContainer('folders', {
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
    for (const container of [provisioner, chownContainer])
      container.addMountPoints({ sourceVolume: name, containerPath, readOnly: false });
  }
  provisioner.addContainerDependencies({
    container: chownContainer,
    condition: ContainerDependencyCondition.SUCCESS,
  });
}
