package shardkey_test

import (
	"context"
	"fmt"

	"github.com/keyheat/keyheat/shardkey"
)

func ExampleNew() {
	s, err := shardkey.New(4, shardkey.HashNumber())
	if err != nil {
		fmt.Println(err)
		return
	}
	names, _ := s.All("user#42")
	fmt.Println(names)
	// Output: [user#42#0 user#42#1 user#42#2 user#42#3]
}

func ExampleSharding_Pick() {
	s, _ := shardkey.New(8, shardkey.HashShardUnderscore())
	// The writer and the reader of one order both know its number.
	write, _ := s.Pick("user#42", "order-1")
	read, _ := s.Pick("user#42", "order-1")
	fmt.Println(write == read)
	// Output: true
}

func ExampleSharding_Random() {
	s, _ := shardkey.New(1, shardkey.HashShardHash())
	name, _ := s.Random("status#OPEN")
	fmt.Println(name)
	// Output: status#OPEN#SHARD#0
}

func ExampleParse() {
	p, ok := shardkey.Parse("user#42#SHARD_7")
	fmt.Println(p.Base, p.Shard, ok)
	// Output: user#42 7 true
}

func ExampleSharding_Distribution() {
	s, _ := shardkey.New(2, shardkey.DotNumber())
	d, _ := s.Distribution("user", map[string]int64{"user.0": 70, "user.1": 30})
	fmt.Printf("shard %d is the hottest; the largest deviation is %.0f%%\n", d.Hottest, 100*d.Deviation)
	// Output: shard 0 is the hottest; the largest deviation is 40%
}

func ExampleGrow() {
	four, _ := shardkey.New(4, shardkey.HashNumber())
	eight, _ := shardkey.New(8, shardkey.HashNumber())
	g, _ := shardkey.Grow(four, eight)
	find, _ := g.Find("user#42", "order-1") // now, and where it may be from before
	fmt.Println(len(find) >= 1 && len(find) <= 2)
	// Output: true
}

func ExampleReader_Query() {
	shards := map[string][]string{"day#0": {"08:00", "11:30"}, "day#1": {"09:15"}, "day#2": {"07:45", "12:00"}}
	reader := shardkey.Reader[string]{
		// An application asks DynamoDB here, and returns LastEvaluatedKey as Next.
		Fetch: func(_ context.Context, name string, _ any) (shardkey.Page[string], error) {
			return shardkey.Page[string]{Items: shards[name]}, nil
		},
		Less:  func(a, b string) bool { return a < b },
		Limit: 4,
	}
	s, _ := shardkey.New(3, shardkey.HashNumber())
	names, _ := s.All("day")
	for at, err := range reader.Query(context.Background(), names) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(at, " ")
	}
	// Output: 07:45 08:00 09:15 11:30
}
