import java.io.BufferedReader;
import java.io.FileReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import weka.classifiers.Classifier;
import weka.core.Instances;
import weka.core.Version;

/**
 * WekaBench TRAIN.arff TEST.arff REPEAT CLASS [OPTION...]: builds the classifier and asks it about every test row.
 *
 * One run of each warms the virtual machine up; the best of REPEAT more is printed, as one JSON object. The last attribute
 * is the class. Reading the files is not timed. The peak is the resident memory of the virtual machine (0 if unknown).
 */
public final class WekaBench {
  public static void main(String[] args) throws Exception {
    Instances train = read(args[0]);
    Instances test = read(args[1]);
    int repeat = Integer.parseInt(args[2]);
    String[] options = java.util.Arrays.copyOfRange(args, 4, args.length);
    Classifier model = null;
    double fit = Double.POSITIVE_INFINITY;
    for (int i = 0; i <= repeat; i++) {
      model = Classifier.forName(args[3], options.clone()); // forName takes the options out of the array
      long start = System.nanoTime();
      model.buildClassifier(train);
      if (i > 0) {
        fit = Math.min(fit, (System.nanoTime() - start) / 1e9);
      }
    }
    double predict = Double.POSITIVE_INFINITY;
    double sum = 0; // so that nothing is optimised away
    for (int i = 0; i <= repeat; i++) {
      long start = System.nanoTime();
      for (int row = 0; row < test.numInstances(); row++) {
        sum += model.distributionForInstance(test.instance(row))[0];
      }
      if (i > 0) {
        predict = Math.min(predict, (System.nanoTime() - start) / 1e9);
      }
    }
    if (Double.isNaN(sum)) {
      throw new ArithmeticException("a probability is not a number");
    }
    System.out.println(
        "{\"version\": \"" + Version.VERSION + "\", \"fit_seconds\": " + fit + ", \"predict_seconds\": " + predict
            + ", \"predict_rows\": " + test.numInstances() + ", \"peak_mb\": " + peak() + "}");
  }

  private static Instances read(String path) throws Exception {
    try (BufferedReader reader = new BufferedReader(new FileReader(path))) {
      Instances data = new Instances(reader);
      data.setClassIndex(data.numAttributes() - 1);
      return data;
    }
  }

  private static double peak() throws Exception {
    Path status = Paths.get("/proc/self/status");
    if (Files.exists(status)) {
      for (String line : Files.readAllLines(status)) {
        if (line.startsWith("VmHWM:")) {
          return Double.parseDouble(line.replaceAll("[^0-9]", "")) / 1024;
        }
      }
    }
    return 0;
  }
}
