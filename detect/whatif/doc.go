// Package whatif answers how a key's load would look with another number of shards,
// from the seconds that were observed: [Parse] reads a question such as user#42=8,x10
// and [Ask] answers it.
//
// Even shards are arithmetic. How uneven a random suffix makes them, and how often
// several shards are placed on one partition until DynamoDB splits it, is simulated
// with a fixed seed ([Place]), so the same question has the same answer.
package whatif
