package awssdk_test

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
)

// One line instruments every client of a configuration.
func ExampleInstrument() {
	ctx := context.Background()
	cfg := config(instant{}) // an application has it from config.LoadDefaultConfig
	sampler, err := awssdk.Instrument(&cfg, awssdk.Options{
		Tables: sample.Schemas{"orders": {KeySchema: sample.Keys("pk", "sk")}},
		Sink: awssdk.SinkFunc(func(_ context.Context, records []sample.Record) error {
			for _, r := range records {
				fmt.Println(r.Op, r.Table, r.PK, r.WCU/1000, "write unit, a record of", r.N)
			}
			return nil
		}),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	client := dynamodb.NewFromConfig(cfg)
	if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: row("1")}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := sampler.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	// Output: PutItem orders user#1 1 write unit, a record of 1
}
