/**
 * CPU time that this process takes for `work`, milliseconds: what others take of the machine meanwhile, or that it stands
 * still, is not in it.
 */
export function cpuTimeOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
