import java.io.BufferedReader;
import java.io.FileReader;
import java.util.Arrays;
import weka.classifiers.Classifier;
import weka.classifiers.bayes.BayesNet;
import weka.core.Instances;
import weka.core.Version;
import weka.filters.Filter;
import weka.filters.supervised.attribute.Discretize;

/**
 * Prints, with every digit a double has, what Weka's command line prints rounded.
 *
 * <pre>
 * WekaReference classify  TABLE.arff ROWS CLASS [OPTION...]   ROWS: row numbers from 0, with commas
 * WekaReference discretize TABLE.arff
 * </pre>
 *
 * The last attribute is the class. A classifier is built from all rows and asked about ROWS. Output: one JSON object.
 */
public final class WekaReference {
  public static void main(String[] args) throws Exception {
    Instances data = new Instances(new BufferedReader(new FileReader(args[1])));
    data.setClassIndex(data.numAttributes() - 1);
    StringBuilder out = new StringBuilder("{\"version\": " + quote("Weka " + Version.VERSION));
    if (args[0].equals("discretize")) {
      Discretize filter = new Discretize();
      filter.setInputFormat(data);
      Filter.useFilter(data, filter);
      out.append(", \"cuts\": {");
      for (int a = 0; a < data.numAttributes() - 1; a++) {
        double[] cuts = filter.getCutPoints(a); // null: no cut was accepted
        out.append(a == 0 ? "" : ", ").append(quote(data.attribute(a).name())).append(": ");
        out.append(cuts == null ? "[]" : Arrays.toString(cuts));
      }
      out.append("}");
    } else {
      String[] options = Arrays.copyOfRange(args, 4, args.length);
      Classifier model = Classifier.forName(args[3], options);
      model.buildClassifier(data);
      if (model instanceof BayesNet) {
        BayesNet net = (BayesNet) model;
        out.append(", \"parents\": {");
        for (int a = 0; a < net.getNrOfNodes(); a++) {
          out.append(a == 0 ? "" : ", ").append(quote(net.getNodeName(a))).append(": [");
          for (int p = 0; p < net.getNrOfParents(a); p++) {
            out.append(p == 0 ? "" : ", ").append(quote(net.getNodeName(net.getParent(a, p))));
          }
          out.append("]");
        }
        out.append("}");
      }
      out.append(", \"proba\": [");
      String[] rows = args[2].split(",");
      for (int i = 0; i < rows.length; i++) {
        double[] p = model.distributionForInstance(data.instance(Integer.parseInt(rows[i])));
        out.append(i == 0 ? "" : ", ").append(Arrays.toString(p));
      }
      out.append("]");
    }
    System.out.println(out.append("}"));
  }

  private static String quote(String s) {
    return "\"" + s.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }
}
