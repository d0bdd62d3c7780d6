/** The program: the command line of a service, which serves without a command. */
export { run } from './commands/program.ts'
