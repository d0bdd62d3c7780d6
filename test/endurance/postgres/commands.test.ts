import '../commands.test.ts'
