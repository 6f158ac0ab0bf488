package fakekubelet

import (
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// NewCommand is the subcommand `fake-kubelet`.
func NewCommand() *cobra.Command {
	var kubeconfig string
	var workers int
	command := &cobra.Command{
		Use:           "fake-kubelet",
		Short:         "run and end the bound pods of all nodes",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(*cobra.Command, []string) error {
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return err
			}
			config.QPS = -1 // no limit of our own
			config.ContentType = runtime.ContentTypeProtobuf
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			return Run(genericapiserver.SetupSignalContext(), client, workers)
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "how to reach kube-apiserver")
	command.Flags().IntVar(&workers, "workers", 16, "pods worked on at the same time")
	if err := command.MarkFlagRequired("kubeconfig"); err != nil {
		panic(err)
	}
	return command
}
