// Package whatif estimates a key's load with another number of shards from its observed
// seconds: [Parse] reads a question such as user#42=8,x10 and [Ask] answers it.
//
// Even shards are arithmetic. [Place] simulates how often several shards share a
// partition until DynamoDB splits it; [Ask] also simulates the unevenness of a random
// suffix. All simulations use a fixed seed, so the same question has the same answer.
package whatif
